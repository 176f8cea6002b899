// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Effort, timer and processors.
#include "common/base/clock.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/calibration/calibrate.hpp"
#include "common/measure/calibration/calibration.hpp"
#include "common/measure/statistics/order_statistics.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace dlmb::measure {
namespace {

constexpr Nanoseconds ms = 1'000'000;
constexpr std::size_t full_link_nodes = 512;
constexpr std::size_t brief_link_nodes = 32;
constexpr CalibrationTimes full_times{1000 * ms, 300 * ms, 100 * ms, full_link_nodes};
constexpr Nanoseconds brief_quanta_most_ns = 60 * ms;
constexpr Nanoseconds brief_barriers_most_ns = 20 * ms;

std::size_t nodes_within(Nanoseconds limit_ns, std::size_t most) {
    return std::min(most, static_cast<std::size_t>(limit_ns / link_turn_ns));
}

}  // namespace

std::string_view name_of(Effort effort) {
    switch (effort) {
    case Effort::off:
        return "off";
    case Effort::brief:
        return "short";
    case Effort::full:
        return "full";
    }
    throw Error("effort out of range");
}

CalibrationTimes calibration_times(Effort effort, Nanoseconds patience_ns) {
    if (effort == Effort::off) {
        return {};
    }
    if (effort == Effort::full) {
        return {std::min(full_times.quanta_ns, patience_ns / 4), std::min(full_times.barriers_ns, patience_ns / 4),
                std::min(full_times.exchange_ns, patience_ns / 4), nodes_within(patience_ns / 4, full_link_nodes)};
    }
    return {std::min(brief_quanta_most_ns, patience_ns * 6 / 1000),
            std::min(brief_barriers_most_ns, patience_ns * 2 / 1000), 0,
            nodes_within(patience_ns * 2 / 1000, brief_link_nodes)};
}

namespace {

constexpr int batches = 100;  // the median over batches: a batch that was interrupted says nothing of the clock
constexpr int reads_per_batch = 1000;
constexpr int regions = 1000;

class NothingToDo final : public CompiledPlan {
public:
    NothingToDo() : CompiledPlan(0) {}
    void launch() override {}
    void finish() override {}
};

struct Reads {
    double cost_ns = 0;
    Nanoseconds step_ns = std::numeric_limits<Nanoseconds>::max();
};

Reads read_repeatedly() {
    Reads reads;
    std::vector<double> costs;
    for (int batch = 0; batch < batches; ++batch) {
        Nanoseconds const begin = now_ns();
        Nanoseconds last = begin;
        for (int i = 0; i < reads_per_batch; ++i) {
            Nanoseconds const now = now_ns();
            reads.step_ns = now > last ? std::min(reads.step_ns, now - last) : reads.step_ns;
            last = now;
        }
        costs.push_back(static_cast<double>(last - begin) / reads_per_batch);
    }
    reads.cost_ns = median(costs);
    return reads;
}

/// What Sampler times, with a plan behind the two virtual calls that does nothing.
double empty_region() {
    std::unique_ptr<CompiledPlan> const plan = std::make_unique<NothingToDo>();
    CompiledPlan* const volatile opaque = plan.get();  // calls through it stay virtual
    std::vector<Nanoseconds> durations;
    for (int i = 0; i < regions; ++i) {
        CompiledPlan* const compiled = opaque;
        Nanoseconds const t_enter = now_ns();
        compiled->launch();
        compiled->finish();
        durations.push_back(now_ns() - t_enter);
    }
    return median(durations);
}

}  // namespace

TimerFloor calibrate_timer(Bootstrap& bootstrap) {
    Reads const reads = read_repeatedly();
    return {max_over_ranks(bootstrap, reads.cost_ns), max_over_ranks(bootstrap, static_cast<double>(reads.step_ns)),
            max_over_ranks(bootstrap, empty_region())};
}

namespace {

constexpr Nanoseconds quantum_ns = 20'000;  // shorter than a scheduler's slice, long beside a read of the clock
constexpr std::uint64_t first_guess = 1000;
constexpr int tries = 5;

/// A chain of shifts in which each needs the one before (Marsaglia's xorshift64): no unit of the processor can do two
/// of them at once, and none touches memory.
std::uint64_t work(std::uint64_t rounds, std::uint64_t state) {
    for (; rounds > 0; --rounds) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

class Quantum {
public:
    Quantum() {
        while (shortest() < quantum_ns) {
            rounds_ *= 2;
        }
    }
    Nanoseconds time_one() {
        Nanoseconds const begin = now_ns();
        state_ = work(rounds_, state_);
        return now_ns() - begin;
    }

private:
    Nanoseconds shortest() {
        Nanoseconds least = time_one();
        for (int i = 1; i < tries; ++i) {
            least = std::min(least, time_one());
        }
        return least;
    }

    std::uint64_t rounds_ = first_guess;
    std::uint64_t volatile state_ = 88172645463325252ULL;  // any but 0; volatile: the work has to be done
};

struct RankQuanta {
    double median_ns = 0;
    double p99_over_min = 0;
    Nanoseconds largest_detour_ns = 0;
};

RankQuanta repeat(Nanoseconds limit_ns) {
    Quantum quantum;
    std::vector<Nanoseconds> lengths(static_cast<std::size_t>(limit_ns / quantum_ns) + 1);  // written to: no page fault
    std::size_t count = 0;
    for (Nanoseconds const end = now_ns() + limit_ns; count == 0 || (count < lengths.size() && now_ns() < end);) {
        lengths[count++] = quantum.time_one();
    }
    lengths.resize(count);
    std::sort(lengths.begin(), lengths.end());
    auto const least = static_cast<double>(std::max<Nanoseconds>(1, lengths.front()));
    return {median(lengths), static_cast<double>(nearest_rank(lengths, 99)) / least, lengths.back() - lengths.front()};
}

}  // namespace

WorkQuanta calibrate_quanta(Bootstrap& bootstrap, Nanoseconds limit_ns) {
    bootstrap.barrier();
    RankQuanta const mine = repeat(limit_ns);
    WorkQuanta quanta;
    for (Blob const& blob : bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)))) {
        RankQuanta rank;
        std::memcpy(&rank, blob.data(), sizeof rank);
        quanta.median_ns = quanta.p99_over_min.empty() ? rank.median_ns : quanta.median_ns;
        quanta.p99_over_min.push_back(rank.p99_over_min);
        quanta.largest_detour_ns.push_back(rank.largest_detour_ns);
    }
    return quanta;
}

}  // namespace dlmb::measure
