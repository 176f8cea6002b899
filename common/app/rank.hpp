// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What one rank does in a launch, whichever way ranks were started.
#pragma once

#include "common/app/options.hpp"
#include "common/bootstrap/bootstrap.hpp"

namespace dlmb::app {

/// Collective. Returns the exit code, equal on all ranks. Throws UsageError and OutputError alike on all ranks.
[[nodiscard]] int run_rank(Bootstrap& bootstrap, PatternType const& type, Options const& given);

}  // namespace dlmb::app
