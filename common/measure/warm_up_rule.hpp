// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How long a cell is warmed up: doubling batches until their medians settle. A value like the stopping rule, asked on
// rank 0 only.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>
#include <optional>

namespace dlmb::measure {

class WarmUpRule {
public:
    /// `fixed`: exactly that many iterations. `pass`: positions of the cell, each of which is to run once at least.
    /// `iteration_ns`: what the first, cold iteration took. `time_limit_ns`: what the cell may spend in its rounds
    /// afterwards; who wants a quick answer does not want a warm-up that takes longer.
    WarmUpRule(std::optional<std::uint64_t> fixed, std::uint64_t pass, Nanoseconds iteration_ns,
               Nanoseconds time_limit_ns = 10'000'000'000);

    /// Iterations of the next batch; 0: warm.
    [[nodiscard]] std::uint64_t next() const;
    void add(std::uint64_t iterations, double median_ns, Nanoseconds elapsed_ns);

    [[nodiscard]] std::uint64_t iterations() const { return iterations_; }
    /// Median of the last batch; before the first one, the cold iteration.
    [[nodiscard]] double iteration_ns() const { return last_median_ns_; }

private:
    [[nodiscard]] bool settled() const;

    std::optional<std::uint64_t> fixed_;
    std::uint64_t pass_;
    Nanoseconds least_ns_;
    Nanoseconds most_ns_;
    std::uint64_t batch_ = 0;
    std::uint64_t iterations_ = 0;
    Nanoseconds elapsed_ns_ = 0;
    double previous_median_ns_ = 0;
    double last_median_ns_;
};

}  // namespace dlmb::measure
