// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Before anything is posted: every send meets a receive of the same size, and the receiver learns the sender's tags.
#pragma once

#include "common/backends/ucx/lowering.hpp"

#include <ucp/api/ucp_def.h>

#include <optional>
#include <string>
#include <vector>

namespace dlmb::ucx {

struct MatchedTags {
    std::vector<std::vector<ucp_tag_t>> receives;  // [step][receive], in the order of LoweredStep::receives
    std::optional<std::string> problem;            // what this rank found wrong; not yet agreed on
};

/// Tag of this rank's sends of `step` when its operations start at `first_operation`.
[[nodiscard]] ucp_tag_t send_tag(std::uint64_t first_operation, StepId step, Rank me);

/// Collective.
[[nodiscard]] MatchedTags match(Bootstrap& bootstrap, Plan const& plan, std::vector<LoweredStep> const& steps,
                                std::uint64_t first_operation);

}  // namespace dlmb::ucx
