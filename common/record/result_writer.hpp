// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Appends whole lines to a result file. A line that a kill or a full disk broke is cut away, so that every line of the
// file can be read at any time. One launch writes to a file at a time.
#pragma once

#include "common/base/error.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace dlmb::record {

/// A line that could not be written. It comes with the error, so that the caller can print what took hours to measure.
class LineNotWritten : public OutputError {
public:
    LineNotWritten(std::string const& what, std::string line) : OutputError(what), line_(std::move(line)) {}
    [[nodiscard]] std::string const& line() const { return line_; }

private:
    std::string line_;
};

class ResultWriter {
public:
    /// Opens `path` for appending, makes its folders, and locks it until destruction. A last line that a kill broke is
    /// removed, with a note on standard error. Throws OutputError with path and reason.
    explicit ResultWriter(std::filesystem::path path);
    ResultWriter(ResultWriter const&) = delete;
    ResultWriter& operator=(ResultWriter const&) = delete;
    ResultWriter(ResultWriter&&) = delete;
    ResultWriter& operator=(ResultWriter&&) = delete;
    ~ResultWriter();

    /// Returns when the line (given without a newline) is on the disk. Throws LineNotWritten when it is not; the file
    /// then ends after its last whole line. Not for several threads at once.
    void append(std::string const& line);
    /// The same for a line in pieces, without allocation, so that a signal handler may call it. False: not on the disk.
    [[nodiscard]] bool append_in_handler(std::span<std::string_view const> line) noexcept;

private:
    void lock();
    void repair();
    void store(std::string const& text);
    /// 0, or the errno of the call that failed; the file then ends as before, unless it cannot be cut either.
    [[nodiscard]] int try_to_store(std::span<std::string_view const> pieces, bool& cut) noexcept;

    std::filesystem::path path_;
    int file_ = -1;
    bool regular_ = false;  // a pipe or device can be neither locked nor cut
};

}  // namespace dlmb::record
