// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One traffic matrix of the comparison: bytes from every rank to every rank, and its reading from the command line.
#pragma once

#include "common/plan/plan.hpp"

#include <string>
#include <vector>

namespace dlmb::benchmark {

struct Case {
    std::string name;
    int ranks = 0;
    std::vector<Bytes> bytes;  // row-major: bytes[from * ranks + to]
    [[nodiscard]] Bytes at(Rank from, Rank to) const;
    [[nodiscard]] Bytes largest_row() const;
};

/// "64", "2M": so much from every rank to every rank. "file:PATH": one row of numbers per rank.
[[nodiscard]] Case read_case(std::string const& text, int ranks);

/// One rank's plan: the matrix as one exchange over all ranks.
[[nodiscard]] Plan plan_of(Case const& traffic, Rank me);

}  // namespace dlmb::benchmark
