// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/buffers/plain_copies.hpp"

#include "common/base/clock.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/statistics/order_statistics.hpp"
#include "common/memory/device_queue.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>

namespace dlmb::measure {
namespace {

constexpr double copying_ns = 30e6;
constexpr std::uint64_t most_turns = 256;

/// Of one step: as many bytes as it moves, over and over through both buffers where these are smaller.
struct CopyJob {
    std::size_t label = 0;
    Bytes bytes = 0;
    BufferId from = 0;
    BufferId to = 0;
    Bytes from_bytes = 0;
    Bytes to_bytes = 0;

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

std::vector<CopyJob> jobs_of(Plan const& plan, std::span<std::string const> labels) {
    std::vector<CopyJob> jobs;
    for (Step const& step : plan.steps) {
        auto const* const compute = std::get_if<Compute>(&step.operation);
        Bytes const bytes = compute == nullptr ? 0 : copied_bytes(*compute);
        if (bytes == 0) {
            continue;
        }
        CopyJob job;
        job.label =
            static_cast<std::size_t>(std::find(labels.begin(), labels.end(), phase_of(step.label)) - labels.begin());
        job.bytes = bytes;
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
    explicit Copier(MemoryKind kind) : queue_(on_device(kind) ? std::make_unique<DeviceQueue>() : nullptr) {}

    Nanoseconds time(CopyJob const& job, Buffers const& buffers) const {
        if (queue_ == nullptr) {
            Nanoseconds const begin = now_ns();
            job.run(buffers, [](std::byte* to, std::byte const* from, Bytes bytes) { std::memcpy(to, from, bytes); });
            return now_ns() - begin;
        }
        DeviceEvent before;
        DeviceEvent after;
        before.record(*queue_);
        job.run(buffers, [this](std::byte* to, std::byte const* from, Bytes bytes) { queue_->copy(to, from, bytes); });
        after.record(*queue_);
        queue_->drain();
        return after.since(before);
    }

private:
    std::unique_ptr<DeviceQueue> queue_;  // of memory that only a device addresses
};

}  // namespace

std::vector<std::optional<PlainCopy>> time_plain_copies(Bootstrap& bootstrap, std::span<Buffers const> slots,
                                                        std::span<Plan const> plans,
                                                        std::span<std::string const> labels, CacheFlush* flush) {
    std::vector<std::optional<PlainCopy>> copies(labels.size());
    std::vector<std::vector<CopyJob>> jobs;
    for (Plan const& plan : plans) {
        jobs.push_back(jobs_of(plan, labels));
    }
    bool const here = std::any_of(jobs.begin(), jobs.end(), [](auto const& of_draw) { return !of_draw.empty(); });
    if (!any_rank(bootstrap, here)) {
        return copies;
    }
    Copier const copier(slots.front().kind);
    std::vector<std::vector<std::vector<double>>> times(  // [draw][label]
        plans.size(), std::vector<std::vector<double>>(labels.size()));
    auto const take_turn = [&](std::uint64_t turn) {
        if (flush != nullptr) {
            flush->sweep();
        }
        bootstrap.barrier();
        std::vector<double> sums(labels.size());
        for (CopyJob const& job : jobs[turn % plans.size()]) {
            sums[job.label] += static_cast<double>(copier.time(job, slots[turn % slots.size()]));
        }
        return sums;
    };
    // The first turns find caches and translations that filling the buffers left.
    double longest = 0;
    double spent = 0;
    for (std::uint64_t turn = 0; turn < slots.size() && spent < copying_ns; ++turn) {
        std::vector<double> const sums = take_turn(turn);
        longest = std::max(1.0, max_over_ranks(bootstrap, std::accumulate(sums.begin(), sums.end(), 0.0)));
        spent += longest;
    }
    std::uint64_t const draws_once = plans.size();
    std::uint64_t const turns =
        std::clamp(static_cast<std::uint64_t>(copying_ns / longest), draws_once, std::max(draws_once, most_turns));
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
        std::vector<double> const sums = take_turn(turn);
        for (std::size_t label = 0; label < labels.size(); ++label) {
            times[turn % plans.size()][label].push_back(sums[label]);
        }
    }
    auto const draws = static_cast<double>(plans.size());
    for (std::size_t label = 0; label < labels.size(); ++label) {
        double bytes = 0;
        double time_ns = 0;
        for (std::size_t draw = 0; draw < plans.size(); ++draw) {
            for (CopyJob const& job : jobs[draw]) {
                bytes += job.label == label ? static_cast<double>(job.bytes) / draws : 0;
            }
            time_ns += median(times[draw][label]) / draws;
        }
        PlainCopy const copy{static_cast<Bytes>(reduce_over_ranks(bootstrap, std::llround(bytes), Fold::max)),
                             max_over_ranks(bootstrap, time_ns)};
        if (copy.bytes > 0) {
            copies[label] = copy;
        }
    }
    return copies;
}

}  // namespace dlmb::measure
