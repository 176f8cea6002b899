// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The main function that every measuring program shares.
#pragma once

namespace dlmb {
struct PatternType;
}

namespace dlmb::run {

/// Parses, decides whether ranks are processes or threads, measures, and returns the documented exit code.
int run_benchmark(int argc, char** argv, PatternType const& type);

}  // namespace dlmb::run
