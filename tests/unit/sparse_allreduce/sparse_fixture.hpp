// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The case that Ok-Topk's volume is measured on: 1,000 of 100,000 gradients, 80 % of them in the first 10 %. And sums
// and choices worked out without sparse vectors.
#pragma once

#include "patterns/sparse_allreduce/iteration.hpp"
#include "patterns/sparse_allreduce/params.hpp"
#include "patterns/sparse_allreduce/sparse_allreduce.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace dlmb::sparse_allreduce {

inline Parameters skewed(Parameters overrides = {}) {
    for (auto const& [name, value] : Parameters{{"elements", "100000"}, {"k", "1000"}, {"skew-share", "0.8:0.1"}}) {
        overrides.emplace(name, value);
    }
    return overrides;
}

inline Params params_of(int ranks, Parameters const& overrides) {
    return read_params(resolve(type(), "", overrides), {ranks, ranks});
}

inline std::map<std::string, double> statistics_of(int ranks, Draw draw, Parameters const& overrides) {
    return dlmb::statistics_of(*make_pattern(type(), "", overrides, {ranks, ranks}), ranks, draw);
}

/// The `count` indices of largest magnitude, of equal ones the lower, largest first.
inline std::vector<std::size_t> top_indices(std::vector<double> const& values, std::size_t count) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    count = std::min(count, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](std::size_t a, std::size_t b) {
                          double const of_a = std::fabs(values[a]);
                          double const of_b = std::fabs(values[b]);
                          return of_a != of_b ? of_a > of_b : a < b;
                      });
    order.resize(count);
    return order;
}

/// Of dense vectors: the values of the k largest of each rank, added up.
inline std::vector<double> sum_of_picks(Params const& params, Draw draw) {
    Gradients const gradients(params);
    std::vector<double> sum(params.elements);
    for (std::size_t rank = 0; rank < params.ranks; ++rank) {
        std::vector<float> const all = gradients.all(static_cast<Rank>(rank), draw);
        for (std::size_t const index : top_indices({all.begin(), all.end()}, params.k)) {
            sum[index] += static_cast<double>(all[index]);
        }
    }
    return sum;
}

/// The exact top k of that sum.
inline SparseVector expected_result(Params const& params, Draw draw) {
    std::vector<double> const sum = sum_of_picks(params, draw);
    SparseVector expected;
    for (std::size_t const index : top_indices(sum, params.k)) {
        expected.push_back({static_cast<std::uint32_t>(index), static_cast<float>(sum[index])});
    }
    std::sort(expected.begin(), expected.end(),
              [](SparseEntry const& a, SparseEntry const& b) { return a.index < b.index; });
    return expected;
}

}  // namespace dlmb::sparse_allreduce
