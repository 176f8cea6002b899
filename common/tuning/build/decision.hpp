// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Who wins at one size, and whether that is more than noise. The default stays unless a contender beats it on the
// launches that found it and again on fresh ones.
#pragma once

#include "common/tuning/build/observation.hpp"
#include "common/tuning/envelope.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dlmb::tuning {

/// The launches of one contender at one size.
struct Showing {
    Choice choice;
    bool is_default = false;
    std::vector<double> medians_ns;  // one per launch that has the default as well, in order of their ids
    std::vector<double> ratios;      // to the default in the same launch
    std::uint64_t samples = 0;
    double aa_error = 0;  // by how much the mean over these launches differs where nothing does
};

/// One scope, place and size: everything that competed there.
struct Heat {
    std::string scope;
    Place place;
    Bytes bytes = 0;
    std::vector<Showing> search;   // launches that may find a winner
    std::vector<Showing> confirm;  // fresh ones, which decide
};

enum class Standing : std::uint8_t {
    no_gain,      // the default has the lowest median
    tie,          // somebody is faster, by too little or on fresh launches no longer
    undecided,    // somebody looks faster by enough, which may be luck: more launches decide
    unconfirmed,  // significant, and not yet seen on fresh launches
    chosen
};

struct Decision {
    Standing standing = Standing::no_gain;
    std::optional<Choice> winner;  // unless no_gain
    std::optional<Evidence> evidence;
};

/// `search` and `confirm` in heats of one backend's methods, one per scope, place and size that has a default.
[[nodiscard]] std::vector<Heat> method_heats(std::vector<Observation> const& search,
                                             std::vector<Observation> const& confirm);

/// One decision per heat; the false discovery rate is held over all of them.
[[nodiscard]] std::vector<Decision> decide(std::vector<Heat> const& heats, Policy const& policy);

}  // namespace dlmb::tuning
