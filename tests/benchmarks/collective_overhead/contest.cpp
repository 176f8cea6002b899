// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/benchmarks/collective_overhead/contest.hpp"

#include "common/base/clock.hpp"

#include <algorithm>
#include <iterator>

namespace dlmb::benchmark {
namespace {

Nanoseconds time_burst(Bootstrap& bootstrap, Loop const& loop, int calls_per_burst) {
    bootstrap.barrier();
    Nanoseconds const start = now_ns();
    loop(calls_per_burst);
    return now_ns() - start;
}

}  // namespace

std::vector<std::vector<double>> compare(Bootstrap& bootstrap, std::span<Loop const> loops, int rounds,
                                         int calls_per_burst) {
    std::vector<std::vector<Nanoseconds>> samples(loops.size());
    int const warm_up = std::max(2, rounds / 10);
    for (int round = -warm_up; round < rounds; ++round) {
        for (std::size_t turn = 0; turn < loops.size(); ++turn) {
            std::size_t const who = (turn + static_cast<std::size_t>(round + warm_up)) % loops.size();
            Nanoseconds const time = time_burst(bootstrap, loops[who], calls_per_burst);
            if (round >= 0) {
                samples[who].push_back(time);
            }
        }
    }
    std::vector<std::vector<double>> times(loops.size());
    for (std::size_t who = 0; who < loops.size(); ++who) {
        bootstrap.all_reduce(samples[who], Fold::max);
        std::transform(samples[who].begin(), samples[who].end(), std::back_inserter(times[who]),
                       [&](Nanoseconds sample) { return static_cast<double>(sample) / calls_per_burst; });
    }
    return times;
}

double median_ratio(std::vector<double> const& subject, std::vector<double> const& reference) {
    std::vector<double> ratios;
    std::transform(subject.begin(), subject.end(), reference.begin(), std::back_inserter(ratios), std::divides<>{});
    return statistics::median(ratios);
}

}  // namespace dlmb::benchmark
