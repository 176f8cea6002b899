// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/sizes/inequality.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace dlmb {

double gini(std::span<double const> loads) {
    std::vector<double> sorted(loads.begin(), loads.end());
    std::sort(sorted.begin(), sorted.end());
    auto const n = static_cast<double>(sorted.size());
    double total = 0;
    double ranked = 0;
    double place = 0;
    for (double const load : sorted) {
        place += 1;
        total += load;
        ranked += place * load;
    }
    return total > 0 ? 2 * ranked / (n * total) - (n + 1) / n : 0;
}

double gini(std::span<std::uint64_t const> loads) {
    return gini(std::vector<double>(loads.begin(), loads.end()));
}

double max_over_mean(std::span<double const> loads) {
    double const total = std::accumulate(loads.begin(), loads.end(), 0.0);
    if (!(total > 0)) {
        return 1;
    }
    return *std::max_element(loads.begin(), loads.end()) * static_cast<double>(loads.size()) / total;
}

double max_over_mean(std::span<std::uint64_t const> loads) {
    return max_over_mean(std::vector<double>(loads.begin(), loads.end()));
}

}  // namespace dlmb
