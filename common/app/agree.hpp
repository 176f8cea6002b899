// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks that learn together how something ended that may end differently on each: reading a file, compiling a plan.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <functional>
#include <string>

namespace dlmb::app {

/// Collective. `work` runs on rank 0 only and returns a blob, which every rank gets. A UsageError or OutputError there
/// is thrown on every rank.
[[nodiscard]] Blob on_rank_zero(Bootstrap& bootstrap, std::function<Blob()> const& work);

/// Collective. The lowest rank's text among those that are not empty; empty when all are.
[[nodiscard]] std::string first_reason(Bootstrap& bootstrap, std::string const& mine);

}  // namespace dlmb::app
