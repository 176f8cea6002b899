// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A tuning table as text. Canonical: equal tables become equal bytes, one rule per line.
#pragma once

#include "common/tuning/table.hpp"

#include <filesystem>
#include <string>

namespace dlmb::tuning {

/// Throws UsageError naming the first problem when the table is not valid (validate).
[[nodiscard]] std::string to_json(TuningTable const& table);

/// One line; "{}" when nothing is set.
[[nodiscard]] std::string to_json(ChoiceParams const& params);

/// Replaces the file as a whole, so that a reader never sees a part of it. Throws OutputError with path and reason.
void write_table(std::filesystem::path const& path, TuningTable const& table);

}  // namespace dlmb::tuning
