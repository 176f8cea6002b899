// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One launch, as each rank of it runs it: checks the sweep, opens backends, calibrates, measures.
#pragma once

#include "common/app/options/options.hpp"
#include "common/bootstrap/bootstrap.hpp"

namespace dlmb::app {

/// Collective. Returns the exit code, equal on all ranks. Throws UsageError and OutputError alike on all ranks.
[[nodiscard]] int run_launch(Bootstrap& bootstrap, PatternType const& type, Options const& given);

}  // namespace dlmb::app
