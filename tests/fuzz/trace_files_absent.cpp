// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// In a build without libarchive no trace is read.
#include "tests/fuzz/targets.hpp"

namespace dlmb::fuzz {

void trace_files(std::string_view /*input*/) {}

}  // namespace dlmb::fuzz
