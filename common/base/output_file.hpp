// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How programs write files and standard output. results-schema/dlmb_results/output.py does it the same way.
#pragma once

#include <filesystem>
#include <string_view>

namespace dlmb {

/// `-`, or what standard output goes to under another name.
[[nodiscard]] bool is_standard_output(std::filesystem::path const& path);

/// Writes all of `text` to `path`; throws OutputError.
/// A regular file, new or old, is replaced by rename, so a reader finds the old text or the new one, and a kill leaves
/// one of them. Links are followed to their target and stay. Devices, FIFOs and what a descriptor below /proc holds are
/// written through. Where is_standard_output(), the text is printed.
void write_output(std::filesystem::path const& path, std::string_view text);

/// Hands everything printed so far to the system; throws OutputError where any of it was lost.
void flush_standard_output();

}  // namespace dlmb
