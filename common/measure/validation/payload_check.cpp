// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/validation/payload_check.hpp"

#include "common/base/philox.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

namespace dlmb::measure {
namespace {

/// Memory that a step's bookkeeping counts for in what checking an iteration costs: filling and checking it take about
/// a microsecond.
constexpr Bytes bytes_per_step = 4096;

/// The largest over the draws of `bytes_of` a plan, summed up over all ranks.
template <class BytesOf>
Bytes world_bytes(Bootstrap& bootstrap, std::span<Plan const> plans, BytesOf const& bytes_of) {
    std::vector<std::int64_t> bytes;
    std::transform(plans.begin(), plans.end(), std::back_inserter(bytes),
                   [&](Plan const& plan) { return static_cast<std::int64_t>(bytes_of(plan)); });
    bootstrap.all_reduce(bytes, Fold::sum);
    return bytes.empty() ? 0 : static_cast<Bytes>(*std::max_element(bytes.begin(), bytes.end()));
}

Bytes effort_of(Plan const& plan) {
    return std::accumulate(plan.buffers.begin(), plan.buffers.end(), plan.steps.size() * bytes_per_step,
                           [](Bytes sum, Buffer const& buffer) { return sum + buffer.bytes; });
}

/// `value` into a sorted list that has each value once.
void note(std::vector<std::uint32_t>& sorted, std::uint64_t value) {
    auto const number = static_cast<std::uint32_t>(value);
    auto const place = std::lower_bound(sorted.begin(), sorted.end(), number);
    if (place == sorted.end() || *place != number) {
        sorted.insert(place, number);
    }
}

std::vector<std::uint64_t> numbers(std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> list(count);
    std::iota(list.begin(), list.end(), first);
    return list;
}

}  // namespace

PayloadCheck::PayloadCheck(Bootstrap& bootstrap, MemorySpace& memory, std::span<Buffers const> slots,
                           std::span<Plan const> plans, record::Fill timed)
    : bootstrap_(bootstrap), memory_(memory), slots_(slots), plans_(plans), timed_(timed),
      world_payload_(world_bytes(bootstrap, plans, [](Plan const& plan) { return traffic_of(plan).payload; })),
      most_checked_(std::max<std::uint64_t>(1, checked_bytes_per_rank * static_cast<Bytes>(bootstrap.size()) /
                                                   std::max<Bytes>(1, world_bytes(bootstrap, plans, effort_of)))) {}

std::vector<std::uint64_t> PayloadCheck::before() const {
    return numbers(0, small() ? plans_.size() : 1);
}

// The last positions of a pass: the first ones were checked before.
std::vector<std::uint64_t> PayloadCheck::after() const {
    std::uint64_t const positions = positions_of(plans_.size(), slots_.size());
    if (!small()) {
        return numbers(positions > 1 ? 1 : 0, 1);
    }
    std::uint64_t const affordable = checked_world_payload / std::max<Bytes>(1, world_payload_);
    std::uint64_t const count = std::clamp<std::uint64_t>(affordable, plans_.size(), positions);
    return numbers(positions - count, count);
}

void PayloadCheck::conclude(record::Validation& validation) {
    validation.blocks_checked += static_cast<std::uint64_t>(
        reduce_over_ranks(bootstrap_, static_cast<std::int64_t>(std::exchange(own_blocks_, 0)), Fold::sum));
    if (timed_ != record::Fill::random) {
        fill_slots(memory_, slots_, plans_, timed_);
    }
}

Nanoseconds PayloadCheck::run(std::uint64_t position, CompiledPlan& compiled, record::Validation& validation) {
    std::uint32_t const iteration = iteration_++;
    PlanPayload payload = payload_at(position);
    payload.prepare(iteration);
    compiled.watch_signals(&payload.watch_signals(iteration));

    bootstrap_.barrier();  // a peer that is ahead must not write into memory that is still being prepared here
    Nanoseconds const t_enter = now_ns();
    compiled.launch();
    compiled.finish();
    Nanoseconds const duration = now_ns() - t_enter;
    compiled.watch_signals(nullptr);

    std::string mismatch = of(position, payload.verify(iteration));
    own_blocks_ += payload.blocks_checked();
    note(validation.draws_checked, position % plans_.size());
    note(validation.slots_checked, position % slots_.size());
    std::array<std::int64_t, 1> slowest{duration};
    agree(mismatch, slowest, validation);
    return slowest[0];
}

std::vector<CheckedIteration> choose_checked(std::uint32_t random, TimedIterations const& iterations,
                                             std::uint64_t draws, std::uint64_t slots, std::uint64_t most) {
    std::uint64_t const last = iterations.count - 1;
    std::uint64_t const alone = iterations.count - std::min(iterations.count, slots);  // in its slot from here on
    std::uint64_t const cold = slots / 2 - std::min(slots / 2, iterations.unrecorded);
    std::uint64_t const begin = std::min(last, std::max(alone, cold));
    std::uint64_t const choice = iterations.count - begin;
    std::uint64_t const count =
        std::min({std::max<std::uint64_t>(1, most), choice, std::max<std::uint64_t>(1, slots / 2)});
    std::uint64_t const first = below(random, static_cast<std::uint32_t>(choice));
    std::vector<CheckedIteration> all;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t const index = begin + (first + i) % choice;
        CheckedIteration& checked = all.emplace_back();
        checked.position = (iterations.first + index) % positions_of(draws, slots);
        checked.age.repeated = index + iterations.unrecorded >= slots;
        checked.age.other_plans = checked.age.repeated && slots % draws != 0;
    }
    return all;
}

void PayloadCheck::prepare(std::uint32_t random, TimedIterations const& iterations) {
    prepared_.clear();
    for (CheckedIteration const& checked :
         choose_checked(random, iterations, plans_.size(), slots_.size(), most_checked_)) {
        Contents const contents = timed_ == record::Fill::random ? Contents(iteration_++) : std::nullopt;
        prepared_.push_back({checked, contents, payload_at(checked.position)});
        prepared_.back().payload.prepare(contents, checked.age.repeated && !checked.age.other_plans);
    }
    bootstrap_.barrier();  // a peer that is ahead must not write into memory that is still being prepared here
}

void PayloadCheck::verify(bool again, record::Validation& validation) {
    std::string mismatch;
    std::vector<std::int64_t> skipped;  // by iteration
    for (PreparedIteration& prepared : prepared_) {
        PayloadAge age = prepared.checked.age;
        if (again && slots_.size() % plans_.size() != 0) {
            skipped.push_back(1);  // another draw may have been the last one in this slot
            continue;
        }
        age.repeated = age.repeated || again;
        std::string const found = of(prepared.checked.position, prepared.payload.verify(prepared.contents, age));
        mismatch = mismatch.empty() ? found : mismatch;
        own_blocks_ += prepared.payload.blocks_checked();
        skipped.push_back(static_cast<std::int64_t>(prepared.payload.blocks_skipped()));
    }
    prepared_.clear();
    agree(mismatch, skipped, validation);
    // Ranks may differ in what they receive; of some sums in place that were summed up again none compared anything.
    validation.timed_checked = validation.timed_checked.value_or(0) +
                               static_cast<std::uint64_t>(std::count(skipped.begin(), skipped.end(), 0));
}

PlanPayload PayloadCheck::payload_at(std::uint64_t position) const {
    return {memory_, slots_[position % slots_.size()], plans_[position % plans_.size()]};
}

std::string PayloadCheck::of(std::uint64_t position, std::vector<std::string> const& mismatches) const {
    return mismatches.empty() ? std::string()
                              : fmt::format("draw {}, slot {}, rank {}: {}", position % plans_.size(),
                                            position % slots_.size(), bootstrap_.rank(), mismatches.front());
}

void PayloadCheck::agree(std::string const& mismatch, std::span<std::int64_t> most, record::Validation& validation) {
    // The lowest rank with a mismatch is the largest of what is left to the number of ranks.
    int const ranks = bootstrap_.size();
    std::vector<std::int64_t> words(most.begin(), most.end());
    words.push_back(mismatch.empty() ? 0 : ranks - bootstrap_.rank());
    bootstrap_.all_reduce(words, Fold::max);
    std::copy_n(words.begin(), most.size(), most.begin());
    if (words.back() > 0) {
        std::string const text = text_from_rank(bootstrap_, mismatch, ranks - static_cast<Rank>(words.back()));
        if (validation.verdict != record::Verdict::failed) {
            validation.first_mismatch = text;
        }
        validation.verdict = record::Verdict::failed;
    }
}

}  // namespace dlmb::measure
