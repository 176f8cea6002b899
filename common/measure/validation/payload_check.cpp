// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/validation/payload_check.hpp"

#include "common/base/philox.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/plan/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace dlmb::measure {
namespace {

Bytes world_payload(Bootstrap& bootstrap, std::span<Plan const> plans) {
    std::vector<std::int64_t> payload;
    payload.reserve(plans.size());
    for (Plan const& plan : plans) {
        payload.push_back(static_cast<std::int64_t>(traffic_of(plan).payload));
    }
    bootstrap.all_reduce(payload, Fold::sum);
    return payload.empty() ? 0 : static_cast<Bytes>(*std::max_element(payload.begin(), payload.end()));
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
                           std::span<Plan const> plans, Fill timed)
    : bootstrap_(bootstrap), memory_(memory), slots_(slots), plans_(plans), timed_(timed),
      world_payload_(world_payload(bootstrap, plans)) {}

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

void PayloadCheck::conclude(Validation& validation) {
    validation.blocks_checked += static_cast<std::uint64_t>(
        reduce_over_ranks(bootstrap_, static_cast<std::int64_t>(std::exchange(own_blocks_, 0)), Fold::sum));
    if (timed_ != Fill::random) {
        fill_slots(memory_, slots_, plans_, timed_);
    }
}

Nanoseconds PayloadCheck::run(std::uint64_t position, CompiledPlan& compiled, Validation& validation) {
    std::uint32_t const iteration = iteration_++;
    PlanPayload payload(memory_, slots_[position % slots_.size()], plans_[position % plans_.size()]);
    payload.prepare(iteration);

    bootstrap_.barrier();  // a peer that is ahead must not write into memory that is still being prepared here
    Nanoseconds const t_enter = now_ns();
    compiled.launch();
    compiled.finish();
    Nanoseconds const duration = now_ns() - t_enter;

    std::vector<std::string> const mismatches = payload.verify(iteration);
    own_blocks_ += payload.blocks_checked();
    note(validation.draws_checked, position % plans_.size());
    note(validation.slots_checked, position % slots_.size());
    return agree(position, mismatches, duration, validation);
}

TimedLook choose_look(std::uint32_t random, TimedIterations const& iterations, std::uint64_t draws,
                      std::uint64_t slots) {
    auto const last_in_slots = static_cast<std::uint32_t>(std::min(iterations.count, slots));
    std::uint64_t const before = iterations.count - 1 - below(random, last_in_slots) + iterations.unrecorded;
    std::uint64_t const positions = positions_of(draws, slots);
    TimedLook look{.position = (iterations.first + before - iterations.unrecorded) % positions, .age = {}};
    look.age.repeated = before >= slots;
    look.age.other_plans = look.age.repeated && slots % draws != 0;
    return look;
}

std::optional<TimedLook> PayloadCheck::lay(std::uint32_t random, TimedIterations const& iterations) {
    if (timed_ != Fill::random) {
        return std::nullopt;
    }
    laid_ = iteration_++;
    TimedLook const look = choose_look(random, iterations, plans_.size(), slots_.size());
    PlanPayload(memory_, slots_[look.position % slots_.size()], plans_[look.position % plans_.size()]).prepare(laid_);
    bootstrap_.barrier();  // a peer that is ahead must not write into memory that is still being prepared here
    return look;
}

void PayloadCheck::look(TimedLook const& look, bool again, Validation& validation) {
    bool const several_draws = slots_.size() % plans_.size() != 0;
    if (again && several_draws) {
        return;  // another draw may have been the last one in this slot
    }
    PlanPayload payload(memory_, slots_[look.position % slots_.size()], plans_[look.position % plans_.size()]);
    PayloadAge age = look.age;
    age.repeated = age.repeated || again;
    std::vector<std::string> const mismatches = payload.verify(laid_, age);
    own_blocks_ += payload.blocks_checked();
    (void)agree(look.position, mismatches, 0, validation);
    // Ranks may differ in what they receive; of a sum in place that was summed up again none compared anything.
    if (reduce_over_ranks(bootstrap_, static_cast<std::int64_t>(payload.blocks_skipped()), Fold::max) == 0) {
        validation.timed_checked = validation.timed_checked.value_or(0) + 1;
    }
}

Nanoseconds PayloadCheck::agree(std::uint64_t position, std::vector<std::string> const& mismatches,
                                Nanoseconds duration, Validation& validation) {
    // The lowest rank with a mismatch is the largest of what is left to the number of ranks.
    int const ranks = bootstrap_.size();
    std::array<std::int64_t, 2> most{mismatches.empty() ? 0 : ranks - bootstrap_.rank(), duration};
    bootstrap_.all_reduce(most, Fold::max);
    if (most[0] > 0) {
        Rank const first = ranks - static_cast<Rank>(most[0]);
        std::string const text = text_from_rank(bootstrap_, mismatches.empty() ? "" : mismatches.front(), first);
        if (validation.verdict != Verdict::failed) {
            validation.first_mismatch = fmt::format("draw {}, slot {}, rank {}: {}", position % plans_.size(),
                                                    position % slots_.size(), first, text);
        }
        validation.verdict = Verdict::failed;
    }
    return most[1];
}

}  // namespace dlmb::measure
