// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Synthetic observations: times with a known truth and a known spread between launches.
#pragma once

#include "common/tools/tune/build/build_table.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace dlmb::tuning {

/// Method -> its true time at a size, nanoseconds. "blocking" is the default.
using Truth = std::map<std::string, std::function<double(Bytes)>>;

struct Campaign {
    std::vector<Bytes> sizes;
    int launches = 8;
    double spread = 0.02;  // standard deviation of a time in a launch, relative
    unsigned seed = 1;
    double launch_spread = 0;  // of what all times of a launch have in common, as a power of e
};

inline std::vector<Observation> observe_truth(Truth const& truth, Campaign const& campaign) {
    std::mt19937 random(campaign.seed);
    std::normal_distribution<double> noise(1.0, campaign.spread);
    std::vector<Observation> seen;
    for (int launch = 0; launch < campaign.launches; ++launch) {
        double const common = std::exp(campaign.launch_spread * (noise(random) - 1) / campaign.spread);
        for (Bytes const bytes : campaign.sizes) {
            for (auto const& [method, time_ns] : truth) {
                Observation one;
                one.key = {TunedOperation::allreduce, bytes, 4, 1, "host", "fp32", "sum", false};
                one.competitor = {"mpi", method};
                one.choice = {"mpi", method, std::nullopt, {}};
                one.is_default = method == "blocking";
                one.launch_id = "launch" + std::to_string(launch);
                one.samples = 1000;
                one.median_ns = time_ns(bytes) * common * noise(random);
                seen.push_back(one);
            }
        }
    }
    return seen;
}

inline std::vector<Bytes> powers_of_two(Bytes first, Bytes last) {
    std::vector<Bytes> sizes;
    for (Bytes size = first; size <= last; size *= 2) {
        sizes.push_back(size);
    }
    return sizes;
}

inline Policy test_policy() {
    Policy policy;
    policy.baseline["host"] = "mpi";
    return policy;
}

}  // namespace dlmb::tuning
