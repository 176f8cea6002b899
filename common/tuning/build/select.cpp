// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/select.hpp"

#include <algorithm>

namespace dlmb::tuning {
namespace {

/// The default methods only, each standing for its backend.
std::vector<Observation> backends_in(std::vector<Observation> const& all, Policy const& policy) {
    std::vector<Observation> chosen;
    for (Observation const& seen : all) {
        auto const baseline = policy.baseline.find(seen.place.memory);
        if (!seen.is_default || baseline == policy.baseline.end()) {
            continue;
        }
        Observation as_backend = seen;
        as_backend.choice = {seen.contender.backend, default_method, std::nullopt, {}};
        as_backend.is_default = seen.contender.backend == baseline->second;
        as_backend.contender = {select_scope, seen.contender.backend};
        chosen.push_back(std::move(as_backend));
    }
    return chosen;
}

}  // namespace

std::vector<Heat> backend_heats(std::vector<Observation> const& search, std::vector<Observation> const& confirm,
                                Policy const& policy) {
    std::vector<Heat> heats = method_heats(backends_in(search, policy), backends_in(confirm, policy));
    std::erase_if(heats, [](Heat const& heat) { return heat.search.size() < 2; });
    return heats;
}

}  // namespace dlmb::tuning
