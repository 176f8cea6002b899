// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/warm_up_rule.hpp"

#include <algorithm>
#include <cmath>

namespace dlmb::measure {
namespace {

constexpr Nanoseconds least_ns = 200'000'000;
constexpr Nanoseconds most_ns = 3'000'000'000;
constexpr Nanoseconds limits_per_warm_up = 5;  // with a short time limit the warm-up takes a fifth to five times of it
constexpr std::uint64_t least_iterations = 10;
constexpr std::uint64_t most_iterations = 2000;  // counts after least_ns_ only: 2000 iterations of 10 us are 20 ms
constexpr std::uint64_t largest_batch = 4096;
constexpr double agreement = 0.05;

}  // namespace

WarmUpRule::WarmUpRule(std::optional<std::uint64_t> fixed, std::uint64_t pass, Nanoseconds iteration_ns,
                       Nanoseconds time_limit_ns)
    : fixed_(fixed), pass_(pass), least_ns_(std::min(least_ns, time_limit_ns / limits_per_warm_up)),
      most_ns_(std::min(most_ns, limits_per_warm_up * time_limit_ns)),
      last_median_ns_(static_cast<double>(iteration_ns)) {}

std::uint64_t WarmUpRule::next() const {
    if (fixed_) {
        return std::min(*fixed_ - iterations_, largest_batch);
    }
    if (settled()) {
        return 0;
    }
    Nanoseconds const left = std::max<Nanoseconds>(0, most_ns_ - elapsed_ns_);
    auto const fits = static_cast<std::uint64_t>(static_cast<double>(left) / std::max(1.0, last_median_ns_));
    // The cold iteration overstates what the first batch takes, so that batch runs whatever it announces.
    std::uint64_t const wanted = std::clamp<std::uint64_t>(2 * batch_, 1, largest_batch);
    return iterations_ == 0 ? wanted : std::min(wanted, fits);
}

void WarmUpRule::add(std::uint64_t iterations, double median_ns, Nanoseconds elapsed_ns) {
    batch_ = iterations;
    previous_median_ns_ = iterations_ == 0 ? 0 : last_median_ns_;
    last_median_ns_ = median_ns;
    iterations_ += iterations;
    elapsed_ns_ += elapsed_ns;
}

bool WarmUpRule::settled() const {
    if (elapsed_ns_ >= most_ns_) {
        return true;
    }
    if (elapsed_ns_ < least_ns_ || iterations_ < std::max(least_iterations, pass_)) {
        return false;
    }
    bool const agree =
        std::abs(last_median_ns_ - previous_median_ns_) <= agreement * std::max(last_median_ns_, previous_median_ns_);
    return agree || iterations_ >= most_iterations;
}

}  // namespace dlmb::measure
