// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A tuning table as JSON. Reading is strict: what is not understood is refused, because a condition that is passed over
// makes a rule match what it was not measured for. Writing is canonical: equal tables become equal bytes, one rule per
// line.
#pragma once

#include "common/base/error.hpp"
#include "common/formats/table/table.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace dlmb::tuning {

enum class TableFault : std::uint8_t {
    io,      // the file cannot be read
    syntax,  // not JSON
    schema,  // not a valid table
    system   // measured on another system
};

/// One line: "table.json: rules[3].when.bytes.min: must be ...".
class TableError : public UsageError {
public:
    TableError(TableFault fault, std::string const& what) : UsageError(what), fault_(fault) {}
    [[nodiscard]] TableFault fault() const { return fault_; }

private:
    TableFault fault_;
};

/// Throws TableError. Rules come back in canonical order (sort_rules). Fields that this program does not know are
/// passed over only outside of rules and in a table of a later minor version.
[[nodiscard]] TuningTable read_table(std::filesystem::path const& path);
/// `source` stands for the file's name in messages.
[[nodiscard]] TuningTable parse_table(std::string_view text, std::string_view source);

/// Throws TableError (system) when the table was measured on another system. `source` as above.
void require_system(TuningTable const& table, std::string_view system_key, std::string_view source);

/// Throws UsageError naming the first problem when the table is not valid (validate).
[[nodiscard]] std::string to_json(TuningTable const& table);
/// One line; "{}" when nothing is set.
[[nodiscard]] std::string to_json(ChoiceParams const& params);

/// As write_output().
void write_table(std::filesystem::path const& path, TuningTable const& table);

}  // namespace dlmb::tuning
