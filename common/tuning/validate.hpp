// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What is wrong with a table although it can be read: rules that contradict each other, can never match or claim more
// than was measured.
#pragma once

#include "common/tuning/table.hpp"

#include <string>
#include <vector>

namespace dlmb::tuning {

/// `path`: where in the JSON ("rules[3].when.bytes"); `what`: what is wrong and what to do.
struct Problem {
    std::string path;
    std::string what;
    bool operator==(Problem const&) const = default;
};

/// Empty: the table is valid. Every problem, in the order of the table.
[[nodiscard]] std::vector<Problem> validate(TuningTable const& table);

}  // namespace dlmb::tuning
