// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks that learn together how something ended that one of them did.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <functional>

namespace dlmb::app {

/// Collective. `work` runs on rank 0 only and returns a blob, which every rank gets. A UsageError or OutputError there
/// is thrown on every rank.
[[nodiscard]] Blob on_rank_zero(Bootstrap& bootstrap, std::function<Blob()> const& work);

}  // namespace dlmb::app
