// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/buffers/plain_copies.hpp"

#include "common/base/clock.hpp"
#include "common/base/statistics/order_statistics.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/memory/device_queue.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace dlmb::measure {
namespace {

constexpr Nanoseconds copying_ns = 30'000'000;
constexpr std::uint64_t most_turns = 256;

/// The copy that stands for one step: as many bytes, over and over through both buffers where these are smaller.
struct CopyJob {
    std::size_t label = 0;
    Bytes bytes = 0;
    BufferId from = 0;
    BufferId to = 0;
    Bytes from_bytes = 0;
    Bytes to_bytes = 0;
    std::optional<Processor> by;  // nullopt: unknown, and nobody copies

    template <class Copy>
    void run(Buffers const& buffers, Copy const& copy) const {
        Bytes from_offset = 0;
        Bytes to_offset = 0;
        for (Bytes left = bytes; left > 0;) {
            Bytes const part = std::min({left, from_bytes - from_offset, to_bytes - to_offset});
            copy(buffers.base[to] + to_offset, buffers.base[from] + from_offset, part);
            from_offset = (from_offset + part) % from_bytes;
            to_offset = (to_offset + part) % to_bytes;
            left -= part;
        }
    }
};

/// The processor that copies in place of a step of `by`: both reach managed memory, only one reaches other memory.
std::optional<Processor> copier_in(MemoryKind kind, std::optional<Processor> by) {
    return kind == MemoryKind::managed ? by : on_device(kind) ? Processor::device : Processor::host;
}

std::vector<CopyJob> jobs_of(Plan const& plan, MemoryKind kind, std::span<std::string const> labels,
                             std::optional<Processor> converts) {
    std::vector<CopyJob> jobs;
    for (Step const& step : plan.steps) {
        auto const* const compute = std::get_if<Compute>(&step.operation);
        Bytes const bytes = compute == nullptr ? 0 : copied_bytes(*compute);
        if (bytes == 0) {
            continue;
        }
        std::optional<Processor> const mover = moved_by(*compute);
        CopyJob job;
        job.label =
            static_cast<std::size_t>(std::find(labels.begin(), labels.end(), phase_of(step.label)) - labels.begin());
        job.bytes = bytes;
        job.by = copier_in(kind, mover ? mover : converts);
        if (compute->rearrangement) {
            job.from = compute->rearrangement->from;
            job.to = compute->rearrangement->to;
        } else {
            Conversion const& conversion = *compute->conversion;
            bool const packs = conversion.direction == PackDirection::pack;
            job.from = packs ? conversion.numbers : conversion.packed;
            job.to = packs ? conversion.packed : conversion.numbers;
        }
        job.from_bytes = plan.buffers[job.from].bytes;
        job.to_bytes = plan.buffers[job.to].bytes;
        jobs.push_back(job);
    }
    return jobs;
}

class Copier {
public:
    /// `by_gpu`: it copies some of the jobs.
    explicit Copier(bool by_gpu) : queue_(by_gpu ? std::make_unique<DeviceQueue>() : nullptr) {}

    Nanoseconds time(CopyJob const& job, Buffers const& buffers) const {
        if (!job.by) {
            return 0;
        }
        if (job.by == Processor::host) {
            Nanoseconds const begin = now_ns();
            job.run(buffers, [](std::byte* to, std::byte const* from, Bytes bytes) { std::memcpy(to, from, bytes); });
            return now_ns() - begin;
        }
        TimedEvent before;
        TimedEvent after;
        before.record(*queue_);
        job.run(buffers, [this](std::byte* to, std::byte const* from, Bytes bytes) { queue_->copy(to, from, bytes); });
        after.record(*queue_);
        queue_->drain();
        return after.since(before);
    }

private:
    std::unique_ptr<DeviceQueue> queue_;
};

}  // namespace

std::vector<std::optional<record::PlainCopy>> time_plain_copies(Bootstrap& bootstrap, std::span<Buffers const> slots,
                                                                std::span<Plan const> plans,
                                                                std::span<std::string const> labels,
                                                                std::optional<Processor> converts, CacheFlush* flush) {
    std::vector<std::optional<record::PlainCopy>> copies(labels.size());
    std::vector<std::vector<CopyJob>> jobs;
    for (Plan const& plan : plans) {
        jobs.push_back(jobs_of(plan, slots.front().kind, labels, converts));
    }
    bool const here = std::any_of(jobs.begin(), jobs.end(), [](auto const& of_draw) { return !of_draw.empty(); });
    if (!any_rank(bootstrap, here)) {
        return copies;
    }
    Copier const copier(std::any_of(jobs.begin(), jobs.end(), [](std::vector<CopyJob> const& of_draw) {
        return std::any_of(of_draw.begin(), of_draw.end(),
                           [](CopyJob const& job) { return job.by == Processor::device; });
    }));
    auto const take_turn = [&](std::uint64_t turn) {
        if (flush != nullptr) {
            flush->sweep();
        }
        bootstrap.barrier();
        std::vector<std::int64_t> sums_ns(labels.size());
        for (CopyJob const& job : jobs[turn % plans.size()]) {
            sums_ns[job.label] += copier.time(job, slots[turn % slots.size()]);
        }
        return sums_ns;
    };
    // The first turns find caches and translations that filling the buffers left.
    Nanoseconds longest_ns = 1;
    Nanoseconds spent_ns = 0;
    for (std::uint64_t turn = 0; turn < slots.size() && spent_ns < copying_ns; ++turn) {
        Nanoseconds const begin = now_ns();
        (void)take_turn(turn);
        longest_ns = std::max(longest_ns, reduce_over_ranks(bootstrap, now_ns() - begin, Fold::max));
        spent_ns += longest_ns;
    }
    std::uint64_t const draws = plans.size();
    std::uint64_t const turns =
        std::clamp(static_cast<std::uint64_t>(copying_ns / longest_ns), draws, std::max(draws, most_turns));
    std::vector<std::int64_t> times_ns;  // [turn][label]
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
        std::vector<std::int64_t> const sums_ns = take_turn(turn);
        times_ns.insert(times_ns.end(), sums_ns.begin(), sums_ns.end());
    }
    bootstrap.all_reduce(times_ns, Fold::max);               // of each turn, as of each iteration of a phase
    std::vector<std::int64_t> bytes(draws * labels.size());  // [draw][label]
    constexpr std::int64_t unknown = 2;                      // above all processors
    std::vector<std::int64_t> by(labels.size());
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
        for (CopyJob const& job : jobs[draw]) {
            bytes[draw * labels.size() + job.label] += static_cast<std::int64_t>(job.bytes);
            by[job.label] = std::max(by[job.label], job.by ? static_cast<std::int64_t>(*job.by) : unknown);
        }
    }
    bootstrap.all_reduce(bytes, Fold::max);
    bootstrap.all_reduce(by, Fold::max);
    for (std::size_t label = 0; label < labels.size(); ++label) {
        std::vector<Nanoseconds> of_label;
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
            if (bytes[turn % draws * labels.size() + label] > 0) {
                of_label.push_back(times_ns[turn * labels.size() + label]);
            }
        }
        std::int64_t total = 0;
        for (std::uint64_t draw = 0; draw < draws; ++draw) {
            total += bytes[draw * labels.size() + label];
        }
        if (total > 0 && by[label] != unknown) {
            copies[label] = record::PlainCopy{static_cast<Processor>(by[label]), static_cast<Bytes>(total) / draws,
                                              statistics::median(std::span<Nanoseconds const>(of_label))};
        }
    }
    return copies;
}

}  // namespace dlmb::measure
