// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// record::Effort, timer and processors.
#include "common/base/clock.hpp"
#include "common/base/statistics/order_statistics.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/calibration/calibration.hpp"

#include <algorithm>
#include <limits>

namespace dlmb::measure {
CalibrationTimes calibration_times(record::Effort effort, Nanoseconds patience_ns) {
    constexpr Nanoseconds ms = 1'000'000;
    auto const nodes_within = [](Nanoseconds limit_ns, std::size_t most) {
        return std::min(most, static_cast<std::size_t>(limit_ns / link_turn_ns));
    };
    if (effort == record::Effort::off) {
        return {};
    }
    if (effort == record::Effort::full) {
        Nanoseconds const part = patience_ns / 4;
        return {std::min(1000 * ms, part), std::min(300 * ms, part), std::min(100 * ms, part), nodes_within(part, 512)};
    }
    return {std::min(60 * ms, patience_ns * 6 / 1000), std::min(20 * ms, patience_ns * 2 / 1000), 0,
            nodes_within(patience_ns * 2 / 1000, 32)};
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

/// Cost of one read, and the smallest step between two.
std::pair<double, Nanoseconds> read_repeatedly() {
    Nanoseconds step_ns = std::numeric_limits<Nanoseconds>::max();
    std::vector<double> costs;
    for (int batch = 0; batch < batches; ++batch) {
        Nanoseconds const begin = now_ns();
        Nanoseconds last = begin;
        for (int i = 0; i < reads_per_batch; ++i) {
            Nanoseconds const now = now_ns();
            step_ns = now > last ? std::min(step_ns, now - last) : step_ns;
            last = now;
        }
        costs.push_back(static_cast<double>(last - begin) / reads_per_batch);
    }
    return {statistics::median(costs), step_ns};
}

/// The time that Sampler would measure of a plan that does nothing behind its two virtual calls.
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
    return statistics::median(durations);
}

}  // namespace

record::TimerFloor calibrate_timer(Bootstrap& bootstrap) {
    auto const [cost_ns, step_ns] = read_repeatedly();
    return {max_over_ranks(bootstrap, cost_ns), max_over_ranks(bootstrap, static_cast<double>(step_ns)),
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
    return {statistics::median(lengths), static_cast<double>(statistics::nearest_rank(lengths, 99)) / least,
            lengths.back() - lengths.front()};
}

}  // namespace

record::WorkQuanta calibrate_quanta(Bootstrap& bootstrap, Nanoseconds limit_ns) {
    bootstrap.barrier();
    RankQuanta const mine = repeat(limit_ns);
    record::WorkQuanta quanta;
    for (RankQuanta const& rank : from_every_rank(bootstrap, mine)) {
        quanta.median_ns = quanta.p99_over_min.empty() ? rank.median_ns : quanta.median_ns;
        quanta.p99_over_min.push_back(rank.p99_over_min);
        quanta.largest_detour_ns.push_back(rank.largest_detour_ns);
    }
    return quanta;
}

}  // namespace dlmb::measure
