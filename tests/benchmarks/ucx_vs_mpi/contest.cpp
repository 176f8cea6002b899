// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/benchmarks/ucx_vs_mpi/contest.hpp"

#include "common/base/clock.hpp"

#include <algorithm>

namespace dlmb::benchmark {
namespace {

Nanoseconds time_burst(Bootstrap& bootstrap, Candidate const& candidate, int burst) {
    bootstrap.barrier();
    Nanoseconds const start = now_ns();
    for (int i = 0; i < burst; ++i) {
        candidate.iteration();
    }
    return now_ns() - start;
}

}  // namespace

Rounds rounds_for(Bytes bytes_per_rank) {
    constexpr Bytes small = Bytes{256} << 10;
    constexpr Bytes large = Bytes{64} << 20;
    if (bytes_per_rank <= small) {
        return {101, 50};
    }
    return bytes_per_rank <= large ? Rounds{51, 4} : Rounds{15, 1};
}

std::vector<double> medians(Bootstrap& bootstrap, std::vector<Candidate> const& candidates, Rounds rounds) {
    std::vector<std::vector<Nanoseconds>> samples(candidates.size());
    int const warm_up = std::max(2, rounds.count / 10);
    for (int round = -warm_up; round < rounds.count; ++round) {
        for (std::size_t turn = 0; turn < candidates.size(); ++turn) {
            std::size_t const who = (turn + static_cast<std::size_t>(round + warm_up)) % candidates.size();
            Nanoseconds const time = time_burst(bootstrap, candidates[who], rounds.burst);
            if (round >= 0) {
                samples[who].push_back(time);
            }
        }
    }
    std::vector<double> result;
    for (std::vector<Nanoseconds>& each : samples) {
        bootstrap.all_reduce(each, Fold::max);
        auto const middle = each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2);
        std::nth_element(each.begin(), middle, each.end());
        result.push_back(static_cast<double>(*middle) / rounds.burst);
    }
    return result;
}

}  // namespace dlmb::benchmark
