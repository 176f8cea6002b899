// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/benchmarks/ucx_vs_mpi/interleaved.hpp"

#include "common/base/clock.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace dlmb::benchmark {
namespace {

void iterate(CompiledPlan& plan, int iterations) {
    for (int i = 0; i < iterations; ++i) {
        plan.launch();
        plan.finish();
    }
}

/// When this rank began and ended them.
struct Bursts {
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> ends;
};

/// After unrecorded iterations, as in the runner: what the other library left behind is not timed. Nothing is left that
/// a peer still needs from this rank: it would wait for ever where the next plan is of a library that blocks.
void run_burst(Bootstrap& bootstrap, TimedPlan const& timed, int burst, Bursts& bursts) {
    constexpr int unrecorded = 3;
    iterate(*timed.plan, unrecorded);
    bootstrap.barrier();
    bursts.starts.push_back(now_ns());
    iterate(*timed.plan, burst);
    bursts.ends.push_back(now_ns());
    timed.backend->quiesce();
}

/// From the first rank's start to the last rank's end. A rank that waits for its turn on a core starts late, when what
/// it is to receive is there already, and neither its own time nor that of its sender has both in it.
std::vector<Nanoseconds> spans(Bootstrap& bootstrap, Bursts bursts) {
    bootstrap.all_reduce(bursts.starts, Fold::min);
    bootstrap.all_reduce(bursts.ends, Fold::max);
    std::vector<Nanoseconds> spans;
    for (std::size_t i = 0; i < bursts.starts.size(); ++i) {
        spans.push_back(bursts.ends[i] - bursts.starts[i]);
    }
    return spans;
}

/// Iterations that fill a sample of a millisecond, from those of the slowest plan.
int burst_for(Bootstrap& bootstrap, std::vector<TimedPlan> const& plans) {
    constexpr Nanoseconds sample_ns = 1'000'000;
    constexpr int trial = 3;
    constexpr int trials = 3;  // in one of them a rank may have waited for its turn
    Nanoseconds slowest = trial;
    for (TimedPlan const& timed : plans) {
        Bursts bursts;
        for (int i = 0; i < trials; ++i) {
            run_burst(bootstrap, timed, trial, bursts);
        }
        std::vector<Nanoseconds> const times = spans(bootstrap, std::move(bursts));
        slowest = std::max(slowest, *std::min_element(times.begin(), times.end()));
    }
    return static_cast<int>(std::clamp<Nanoseconds>(trial * sample_ns / slowest, 1, 100));
}

}  // namespace

std::vector<Times> time_interleaved(Bootstrap& bootstrap, std::vector<TimedPlan> const& plans, int rounds) {
    std::vector<Bursts> samples(plans.size());
    burst_for(bootstrap, plans);  // the first runs touch memory for the first time
    int const burst = burst_for(bootstrap, plans);
    std::vector<std::size_t> order(plans.size());
    std::iota(order.begin(), order.end(), 0);
    std::minstd_rand random;  // alike on all ranks
    for (int round = 0; round < rounds; ++round) {
        if (round % 2 == 0) {
            std::shuffle(order.begin(), order.end(), random);
        } else {
            std::reverse(order.begin(), order.end());
        }
        for (std::size_t const who : order) {
            run_burst(bootstrap, plans[who], burst, samples[who]);
        }
    }
    std::vector<Times> result;
    for (Bursts& each : samples) {
        std::vector<Nanoseconds> times = spans(bootstrap, std::move(each));
        std::sort(times.begin(), times.end());
        result.push_back({static_cast<double>(times[times.size() / 2]) / burst, static_cast<double>(times[0]) / burst});
    }
    return result;
}

}  // namespace dlmb::benchmark
