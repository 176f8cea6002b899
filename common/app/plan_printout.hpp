// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// `--plan`: the plans and the traffic matrix of all ranks, computed in this process. Needs neither MPI nor a GPU.
#pragma once

#include "common/app/options.hpp"

#include <string>

namespace dlmb::app {

/// Throws UsageError when the options name more than one point.
[[nodiscard]] std::string plan_printout(PatternType const& type, Options const& options);

}  // namespace dlmb::app
