// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers by which text tells the steps of different ranks together that are one operation.
#pragma once

#include "common/plan/plan_source.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace dlmb {

using Tag = std::uint64_t;

/// Tags of collectives: the k-th step of a group has the same tag on all members and on nothing else. They are above
/// all channels, which are the tags of Sends. Asks for each plan once.
class StepTags {
public:
    explicit StepTags(PlanSource const& plans);

    /// By step of the plan; 0 where it is no collective.
    [[nodiscard]] std::vector<Tag> of(Plan const& plan) const;

private:
    std::map<std::vector<Rank>, Tag> first_;  // by members
};

}  // namespace dlmb
