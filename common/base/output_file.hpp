// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How programs write files, standard output and standard error. results-schema/dlmb_results/files.py does it the same
// way.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
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

/// On standard error. What cannot be written there is lost: nobody reads it, and nothing may end for it.
void print_error(std::string_view text) noexcept;

enum class PrintedTo { output, error };
/// Where a command says what it did: on standard error where one of its output files is standard output.
[[nodiscard]] PrintedTo printed_beside(std::initializer_list<std::string> outputs);
/// As write_output() or as print_error().
void print_to(PrintedTo stream, std::string_view text);

/// For the begin of main(). A descriptor below 3 that whoever started the program closed would go to the next file that
/// is opened, and what is printed would end in it. It is opened so that printing fails.
void hold_standard_streams() noexcept;

}  // namespace dlmb
