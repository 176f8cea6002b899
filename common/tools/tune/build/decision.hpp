// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Decides the winner at one size. The default stays unless a competitor beats it on the
// launches that found it and again on fresh ones.
#pragma once

#include "common/formats/table/table.hpp"
#include "common/tools/tune/build/observe.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dlmb::tuning {

/// Lower end of the interval of a gain where launches are too few for one of 95 %.
inline constexpr double gain_of_no_interval = 1 - 1e6;

/// The launches of one competitor at one size.
struct MethodTimes {
    Choice choice;
    bool is_default = false;
    std::vector<double> medians_ns;  // one per launch that has the default as well, in order of their ids
    std::vector<double> ratios;      // to the default in the same launch
    std::uint64_t samples = 0;
    double aa_error = 0;  // by how much the mean over these launches differs where nothing does
    std::optional<Foreign> foreign = {};
};

/// One scope and key: everything that competed there.
struct Comparison {
    std::string scope;
    Key key;
    std::vector<MethodTimes> search;   // launches that may find a winner
    std::vector<MethodTimes> confirm;  // fresh ones, which decide
};

enum class Outcome : std::uint8_t {
    no_gain,      // the default has the lowest median
    tie,          // somebody is faster, by too little or on fresh launches no longer
    undecided,    // somebody looks faster by enough, which may be chance: more launches decide
    unconfirmed,  // significant, and fresh launches are missing or too noisy to say so again
    foreign,      // faster by policy.min_gain in every launch of another program, which tests cannot be made on
    chosen
};

struct Decision {
    Outcome outcome = Outcome::no_gain;
    std::optional<Choice> winner;  // unless no_gain
    std::optional<Evidence> evidence;
};

/// `search` and `confirm` in comparisons of one backend's methods, one per scope and key that has a default.
[[nodiscard]] std::vector<Comparison> method_comparisons(std::vector<Observation> const& search,
                                                         std::vector<Observation> const& confirm);

/// Backends against each other, in scope "select", where the default is the policy's baseline. Each backend competes by
/// its own default method; what its method rules gain on top is theirs. None where there is one backend only, or not
/// the baseline of the memory.
[[nodiscard]] std::vector<Comparison> backend_comparisons(std::vector<Observation> const& search,
                                                          std::vector<Observation> const& confirm,
                                                          Policy const& policy);

/// One decision per comparison; the false discovery rate is held over all of them.
[[nodiscard]] std::vector<Decision> decide(std::vector<Comparison> const& comparisons, Policy const& policy);

}  // namespace dlmb::tuning
