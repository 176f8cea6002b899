// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A tuning table: measured choices, and what they hold for. A value: compared, printed and stored without a library.
#pragma once

#include "common/tuning/envelope.hpp"
#include "common/tuning/rule.hpp"

#include <map>
#include <string>
#include <vector>

namespace dlmb::tuning {

inline constexpr char const* table_schema = "dlmb.tuning-table/1.1";

struct TuningTable {
    std::string created;  // UTC, ISO 8601
    Tool tool;
    std::vector<Input> inputs;          // empty in a table that a person wrote
    std::map<std::string, Base> bases;  // by consumer
    System system;
    Stack stack;
    Policy policy;
    /// The first match within a scope wins. Rules of a valid table do not overlap, so their order changes no answer.
    std::vector<Rule> rules;
    bool operator==(TuningTable const&) const = default;
};

/// By scope, operation, ranks, nodes, memory, bytes, then the other conditions: equal tables become equal files.
void sort_rules(TuningTable& table);

}  // namespace dlmb::tuning
