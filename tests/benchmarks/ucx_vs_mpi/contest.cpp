// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/benchmarks/ucx_vs_mpi/contest.hpp"

#include "common/base/clock.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace dlmb::benchmark {
namespace {

void iterate(CompiledPlan& plan, int iterations) {
    for (int i = 0; i < iterations; ++i) {
        plan.launch();
        plan.finish();
    }
}

/// After unrecorded iterations, as in the runner: what the other library left behind is not timed. Nothing is left that
/// a peer still needs from this rank: it would wait for ever where the next candidate is of a library that blocks.
Nanoseconds time_burst(Bootstrap& bootstrap, Candidate const& candidate, int burst) {
    constexpr int unrecorded = 3;
    iterate(*candidate.plan, unrecorded);
    bootstrap.barrier();
    Nanoseconds const start = now_ns();
    iterate(*candidate.plan, burst);
    Nanoseconds const time = now_ns() - start;
    candidate.backend->quiesce();
    return time;
}

/// Iterations that fill a sample of a millisecond, from those of the slowest candidate on the slowest rank.
int burst_for(Bootstrap& bootstrap, std::vector<Candidate> const& candidates) {
    constexpr Nanoseconds sample_ns = 1'000'000;
    constexpr int trial = 3;
    std::array<std::int64_t, 1> slowest{1};
    for (Candidate const& candidate : candidates) {
        slowest[0] = std::max(slowest[0], time_burst(bootstrap, candidate, trial) / trial);
    }
    bootstrap.all_reduce(slowest, Fold::max);
    return static_cast<int>(std::clamp<Nanoseconds>(sample_ns / slowest[0], 1, 100));
}

}  // namespace

std::vector<Times> compete(Bootstrap& bootstrap, std::vector<Candidate> const& candidates, int rounds) {
    std::vector<std::vector<std::int64_t>> samples(candidates.size());
    burst_for(bootstrap, candidates);  // the first runs touch memory for the first time
    int const burst = burst_for(bootstrap, candidates);
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), 0);
    std::minstd_rand random;  // alike on all ranks
    for (int round = 0; round < rounds; ++round) {
        if (round % 2 == 0) {
            std::shuffle(order.begin(), order.end(), random);
        } else {
            std::reverse(order.begin(), order.end());
        }
        for (std::size_t const who : order) {
            samples[who].push_back(time_burst(bootstrap, candidates[who], burst));
        }
    }
    std::vector<Times> result;
    for (std::vector<std::int64_t>& each : samples) {
        bootstrap.all_reduce(each, Fold::max);
        std::sort(each.begin(), each.end());
        result.push_back({static_cast<double>(each[each.size() / 2]) / burst, static_cast<double>(each[0]) / burst});
    }
    return result;
}

}  // namespace dlmb::benchmark
