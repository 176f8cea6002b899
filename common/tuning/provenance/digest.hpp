// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// SHA-256, by which a table names the files it was made from and a result names the table it was run with.
#pragma once

#include "common/tuning/table.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace dlmb::tuning {

/// 64 hex digits. Throws Error when the library fails.
[[nodiscard]] std::string sha256(std::string_view content);

/// Throws UsageError naming the file when it cannot be read.
[[nodiscard]] std::string sha256_of_file(std::filesystem::path const& path);

/// Of the table's canonical text: equal for equal tables, however their files are laid out. For a file that dlmb_tune
/// wrote it is what sha256sum prints.
[[nodiscard]] std::string digest_of(TuningTable const& table);

}  // namespace dlmb::tuning
