// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/statistics/rank_test.hpp"

namespace dlmb::measure {

// The largest of all values is the candidate's with probability c / (b + c), and then wins b pairs; else it is the
// baseline's and wins none (Mann and Whitney 1947, in probabilities instead of counts).
std::vector<double> pair_distribution(std::size_t baseline, std::size_t candidate) {
    std::vector<std::vector<double>> with(candidate + 1, std::vector<double>{1});  // by candidates, so far no baseline
    for (std::size_t b = 1; b <= baseline; ++b) {
        for (std::size_t c = 1; c <= candidate; ++c) {
            std::vector<double> next(b * c + 1, 0);
            auto const all = static_cast<double>(b + c);
            for (std::size_t u = 0; u < with[c].size(); ++u) {  // of b - 1 and c
                next[u] += with[c][u] * static_cast<double>(b) / all;
            }
            for (std::size_t u = 0; u < with[c - 1].size(); ++u) {  // of b and c - 1
                next[u + b] += with[c - 1][u] * static_cast<double>(c) / all;
            }
            with[c] = std::move(next);
        }
    }
    return with[candidate];
}

std::optional<std::size_t> critical_pairs(std::size_t baseline, std::size_t candidate, double alpha) {
    std::vector<double> const distribution = pair_distribution(baseline, candidate);
    std::optional<std::size_t> critical;
    double tail = 0;
    for (std::size_t u = distribution.size(); u-- > 0;) {
        tail += distribution[u];
        if (tail > alpha) {
            break;
        }
        critical = u;
    }
    return critical;
}

}  // namespace dlmb::measure
