// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What every exporter gives: the files and variables that make a consumer follow a table, and what the consumer cannot
// express. Exporters are pure functions: equal input, equal bytes.
#pragma once

#include "common/tuning/exporters/slice.hpp"
#include "common/tuning/table.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::tuning {

/// Why a rule does not hold in the consumer as it does in the table.
enum class LostReason : std::uint8_t {
    operation_not_tunable,  // the consumer has no choice for this operation
    key_not_expressible,    // a condition or a parameter that its format does not have
    size_ignored,           // it sees no size, or less of it than the rule says
    range_limit,            // a bound beyond its integers, or too many values to list
    unknown_algorithm,      // its library has none of this name, or not safely for what the rule matches
    other_slice,            // another memory kind, element, reduction or number of nodes than the export is for
    other_backend           // the table hands this operation to another backend
};
[[nodiscard]] std::string_view name_of(LostReason reason);

struct Lost {
    std::string rule;  // its id
    LostReason why;
    std::string detail;  // one line for a person
    bool operator==(Lost const&) const = default;
};

struct File {
    std::string name;
    std::string text;
    bool operator==(File const&) const = default;
};

/// Stands for the folder of the files in values of Export::env, which is known only when they are written.
inline constexpr std::string_view folder_mark = "@FOLDER@";

struct Export {
    std::vector<File> files;
    std::map<std::string, std::string> env;
    std::vector<Lost> lost;          // in the order of the table
    std::vector<std::string> notes;  // what the user of the consumer must know; one line each
    bool operator==(Export const&) const = default;
};

/// lost.json: an array of {"rule", "why", "detail"}, one per line.
[[nodiscard]] std::string to_json(std::vector<Lost> const& lost);

}  // namespace dlmb::tuning
