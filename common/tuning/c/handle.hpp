// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the opaque handle of the C interface holds: the table, and what a lookup would otherwise have to make.
#pragma once

#include "common/tuning/c/dlmb_tuning.h"
#include "common/tuning/rule_index.hpp"

#include <string>
#include <vector>

struct dlmb_tuning {
    explicit dlmb_tuning(dlmb::tuning::TuningTable read);

    dlmb::tuning::TuningTable const table;
    dlmb::tuning::RuleIndex const index{table};
    std::vector<std::string> params;  // of table.rules, as JSON
};
