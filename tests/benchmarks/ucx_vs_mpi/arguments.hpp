// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the comparison was asked for on the command line.
#pragma once

#include "common/base/units.hpp"

#include <span>
#include <string>
#include <vector>

namespace dlmb::benchmark {

struct Arguments {
    std::vector<std::string> groups;  // of cases
    std::vector<std::string> methods{"default"};
    std::vector<Bytes> sizes;  // empty: those of the group
    std::string only;          // cases whose names have this text
    int rounds = 61;
    bool control = false;  // MPI takes another turn in each round: its ratio to itself is what no comparison can tell
};

/// Throws UsageError.
[[nodiscard]] Arguments read_arguments(std::span<char*> words);

}  // namespace dlmb::benchmark
