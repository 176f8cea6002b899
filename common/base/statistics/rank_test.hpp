// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Exact rank tests: of two sides that were measured apart (Mann-Whitney, without ties), and of two ways that were
// measured in the same launches (signed ranks). Launches differ from each other by far more than two ways differ in one
// of them, so each launch gives one ratio there, and the ratios are tested. Also what slowdown such a test can see.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace dlmb::statistics {

/// Of the number of pairs (one value of each side) in which the candidate's value is the larger one. Entry u: the
/// probability of exactly u such pairs when both sides have one distribution.
[[nodiscard]] std::vector<double> pair_distribution(std::size_t baseline, std::size_t candidate);

/// The least u that is reached or exceeded by chance with probability `alpha` or less; none where even all pairs are
/// not that unlikely.
[[nodiscard]] std::optional<std::size_t> critical_pairs(std::size_t baseline, std::size_t candidate, double alpha);

/// Exact one-sided signed-rank test with midranks on the logarithms of candidate / reference, one ratio per launch: the
/// probability, if neither were faster, that they lie as low as they do. Ratios of 1 say nothing and are left out; 1
/// where none is left. Source: Wilcoxon, Individual Comparisons by Ranking Methods (1945); Lehmann, Nonparametrics
/// (1975), section 3.2.
[[nodiscard]] double probability_by_chance(std::span<double const> ratios);

/// Hodges-Lehmann estimate of the ratio, with the interval of at least 95 % that belongs to the test.
struct Ratio {
    double estimate = 1;
    double low = 0;  // 0 and infinity where so few launches give no such interval
    double high = 0;
};
/// Ratios are positive; there is at least one.
[[nodiscard]] Ratio ratio_of(std::span<double const> ratios);

/// Benjamini-Hochberg: which of `probabilities` are significant when a share of `q` of all that are called so may be
/// called so wrongly.
[[nodiscard]] std::vector<bool> discoveries(std::span<double const> probabilities, double q);

/// Significance that the test asks for; small, because a comparison asks about many cells at once.
inline constexpr double usual_alpha = 0.005;

/// What slowdown a comparison of launches can see. A launch is one number per cell; two sides of as many launches are
/// compared by the exact one-sided Mann-Whitney test and by the Hodges-Lehmann ratio, which must reach a margin. The
/// power is simulated with a fixed seed: equal arguments give equal results everywhere.
class Detection {
public:
    /// For one number of launches per side.
    explicit Detection(std::size_t launches);

    /// The least slowdown (0.05: 5 %) that is found with this power where launches are spread by `spread` and an
    /// estimate below `margin` is no finding; nullopt where no result of so few launches is significant.
    [[nodiscard]] std::optional<double> least_slowdown(double spread, double margin, double power) const;

private:
    /// One simulated comparison of equal sides, launches normal with spread 1, in logarithms: by how much the candidate
    /// has to be moved before the test, and by how much before the estimate, finds it slower.
    struct Trial {
        double until_significant = 0;
        double estimate = 0;
    };
    std::vector<Trial> trials_;  // empty: never significant
};

/// Standard deviation of the values' logarithms, near the relative one where it is small. Of at least two values.
[[nodiscard]] double log_spread(std::span<double const> values);

/// Factor from the spread of `count` values to what the true spread is at most, with 90 % confidence: sqrt(f / chi^2),
/// f = count - 1, the 10 % quantile of chi^2 after Wilson and Hilferty (1931). Of at least two values.
[[nodiscard]] double spread_bound(std::size_t count);

}  // namespace dlmb::statistics
