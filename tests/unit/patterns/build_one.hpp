// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One rank's plan without a launch: the counts that its peers would send at set-up are computed here.
#pragma once

#include "patterns/pattern.hpp"

#include <utility>
#include <vector>

namespace dlmb {

/// What a rank receives at set-up. In every pattern a rank sends counts to those ranks that send it theirs.
inline std::vector<SetupCounts> received_counts(Pattern const& pattern, RankSetup const& own, Draw draw) {
    std::vector<SetupCounts> received;
    for (SetupCounts const& sent : own.counts_to_send) {
        for (SetupCounts& theirs : pattern.setup_of(sent.to, draw).counts_to_send) {
            if (theirs.to == sent.from) {
                received.push_back(std::move(theirs));
            }
        }
    }
    return received;
}

inline Plan build_one(Pattern const& pattern, Rank me, Draw draw) {
    RankSetup const own = pattern.setup_of(me, draw);
    return pattern.build(me, draw, own, received_counts(pattern, own, draw));
}

}  // namespace dlmb
