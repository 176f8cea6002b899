// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The origin of a table and where it holds: SHA-256, by which a table names its files and a result names the table
// it was run with, and the key of a system.
#pragma once

#include "common/formats/table/table.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace dlmb::tuning {

/// 64 hex digits. Throws Error when the library fails.
[[nodiscard]] std::string sha256(std::string_view content);

/// Throws UsageError naming the file when it cannot be read or is no regular file.
[[nodiscard]] std::string sha256_of_file(std::filesystem::path const& path);

/// The SHA-256 of the table's canonical text: equal for equal tables, however their files are laid out. For a file that
/// dlmb_tune wrote it is what sha256sum prints.
[[nodiscard]] std::string digest_of(TuningTable const& table);

/// A launch's environment.identity without the shape of the launch (ranks, nodes, ranks per node), because one table
/// holds rules for several.
[[nodiscard]] std::map<std::string, std::string> system_identity(std::map<std::string, std::string> identity);
/// The key of a system_identity() or of a whole identity. 16 hex digits, the same on every platform.
[[nodiscard]] std::string system_key(std::map<std::string, std::string> const& identity);

/// "binding none instead of all, mpi_library ... instead of ...": what is another in `these` than in `first`, both as
/// system_identity() makes them. Empty: nothing, or one of them is not told.
[[nodiscard]] std::string system_differences(std::map<std::string, std::string> const& these,
                                             std::map<std::string, std::string> const& first);

}  // namespace dlmb::tuning
