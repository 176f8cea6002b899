// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// sparse_selection [ELEMENTS [DENSITY]]
//
// What the selection costs that sparse allreduces need, on one core: a pass over all gradients with a threshold, and
// the exact threshold. By default of 1,048,576 fp32 gradients at density 0.001; best of the repetitions.
#include "common/base/clock.hpp"
#include "patterns/sparse_allreduce/gradients.hpp"
#include "patterns/sparse_allreduce/sparse_allreduce.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace dlmb::sparse_allreduce {
namespace {

double best_us(std::function<void()> const& work) {
    double best = std::numeric_limits<double>::max();
    for (int repetition = 0; repetition < 7; ++repetition) {
        Nanoseconds const start = now_ns();
        work();
        best = std::min(best, static_cast<double>(now_ns() - start) / nanoseconds_per_microsecond);
    }
    return best;
}

void print_times(std::string const& elements, std::string const& density) {
    Params const params = read_params(resolve(type(), "", {{"elements", elements}, {"density", density}}), {1, 1});
    Gradients const gradients(params);
    std::vector<float> const all = gradients.all(0, {1, 1});
    SparseVector picks = gradients.large(0, {1, 1});
    auto const limit = static_cast<float>(least_magnitude(largest(picks, params.k)));
    double const scan_us = best_us([&] {
        picks.clear();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (std::fabs(all[i]) >= limit) {
                picks.push_back({static_cast<std::uint32_t>(i), all[i]});
            }
        }
    });
    std::vector<float> magnitudes(all.size());
    double const estimate_us = best_us([&] {
        std::transform(all.begin(), all.end(), magnitudes.begin(), [](float each) { return std::fabs(each); });
        auto const last = magnitudes.begin() + static_cast<std::ptrdiff_t>(params.k - 1);
        std::nth_element(magnitudes.begin(), last, magnitudes.end(), std::greater<>{});
    });
    fmt::print("--select-us {:.1f} --estimate-us {:.1f} ({} picks)\n", scan_us, estimate_us, picks.size());
}

}  // namespace
}  // namespace dlmb::sparse_allreduce

int main(int argc, char** argv) {
    try {
        dlmb::sparse_allreduce::print_times(argc > 1 ? argv[1] : "1048576", argc > 2 ? argv[2] : "0.001");
        return 0;
    } catch (std::exception const& error) {
        fmt::print(stderr, "sparse_selection: error: {}\n", error.what());
        return 1;
    }
}
