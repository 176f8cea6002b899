// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How programs read files that users name. A device or a FIFO may have no end, so each read has a limit;
// docs/running.md names them. results-schema/dlmb_results/files.py has the same.
#pragma once

#include "common/base/units.hpp"

#include <filesystem>
#include <istream>
#include <string>

namespace dlmb {

inline constexpr Bytes most_document_bytes = Bytes{256} << 20;  // tables, counts files
inline constexpr Bytes most_line_bytes = Bytes{64} << 20;       // of a result file
inline constexpr Bytes most_stream_bytes = Bytes{1} << 30;      // of results from what has no size: a FIFO, a device

/// The whole file. Throws UsageError where it cannot be read or is larger than `most`.
[[nodiscard]] std::string read_document(std::filesystem::path const& path, Bytes most = most_document_bytes);

/// As std::getline. Throws UsageError, without the name of the file, on a line longer than `most`.
[[nodiscard]] bool read_line(std::istream& file, std::string& line, Bytes most = most_line_bytes);

}  // namespace dlmb
