// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The main function that every measuring program shares, and one launch, as each rank of it runs it.
#pragma once

#include "common/app/launch_watch.hpp"
#include "common/app/options/options.hpp"
#include "common/bootstrap/bootstrap.hpp"
#include "patterns/pattern.hpp"

namespace dlmb::app {

/// Parses, decides whether ranks are processes or threads, measures, and returns the documented exit code.
int run_benchmark(int argc, char** argv, PatternType const& type);

/// Collective. Checks the sweep, opens backends, calibrates, measures. Returns the exit code, equal on all ranks.
/// Throws UsageError and OutputError alike on all ranks.
[[nodiscard]] int run_launch(Bootstrap& bootstrap, PatternType const& type, Options const& given, LaunchWatch& watch);

}  // namespace dlmb::app
