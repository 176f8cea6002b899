// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What slowdown a comparison of launches can see. A launch is one number per cell; two sides of as many launches are
// compared by the exact one-sided Mann-Whitney test and by the Hodges-Lehmann ratio, which must reach a margin. The
// power is simulated with a fixed seed: equal arguments give equal results everywhere.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace dlmb::measure {

/// Significance that the test asks for; small, because a comparison asks about many cells at once.
inline constexpr double usual_alpha = 0.005;

/// For one number of launches per side.
class Detection {
public:
    explicit Detection(std::size_t launches, double alpha = usual_alpha);

    /// How often a slowdown of this share (0.05: 5 %) is found where launches are spread by `spread` and an estimate
    /// below `margin` is no finding.
    [[nodiscard]] double power(double spread, double margin, double slowdown) const;
    /// The least slowdown that is found with this power; nullopt where no result of so few launches is significant.
    [[nodiscard]] std::optional<double> least_slowdown(double spread, double margin, double power) const;

private:
    /// One simulated comparison of equal sides, launches normal with spread 1, in logarithms: by how much the candidate
    /// has to be moved before the test, and by how much before the estimate, finds it slower.
    struct Trial {
        double until_significant = 0;
        double estimate = 0;
    };
    [[nodiscard]] static double needed(Trial const& trial, double spread, double margin);

    std::vector<Trial> trials_;  // empty: never significant
};

/// Standard deviation of the values' logarithms, near the relative one where it is small. Of at least two values.
[[nodiscard]] double log_spread(std::span<double const> values);

/// Factor from the spread of `count` values to what the true spread is at most, with 90 % confidence: sqrt(f / chi^2),
/// f = count - 1, the 10 % quantile of chi^2 after Wilson and Hilferty (1931). Of at least two values.
[[nodiscard]] double spread_bound(std::size_t count);

}  // namespace dlmb::measure
