// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The bytes of trace files, one file after the other, out of gzip files, tar and zip archives and folders. Nothing is
// held but one piece: a trace may have gigabytes.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::input {

/// The bytes of a file, or of a member of an archive.
class ByteSource {
public:
    ByteSource() = default;
    ByteSource(ByteSource const&) = delete;
    ByteSource& operator=(ByteSource const&) = delete;
    ByteSource(ByteSource&&) = delete;
    ByteSource& operator=(ByteSource&&) = delete;
    virtual ~ByteSource() = default;
    /// The next bytes, which stay until the next call; empty at the end. Throws UsageError.
    virtual std::string_view next() = 0;
};

/// Lines and columns count from 1, columns in bytes.
struct Place {
    std::uint64_t line = 0;
    std::uint64_t column = 0;
    /// Behind this text.
    void pass(std::string_view text);
};

/// A file to read through once. Errors name it.
class Input {
public:
    Input(std::string name, ByteSource& source) : name_(std::move(name)), source_(source) {}

    [[nodiscard]] std::string const& name() const { return name_; }
    /// At least `bytes` of what comes next, fewer at the end of the file. Reads nothing away.
    [[nodiscard]] std::string_view peek(std::size_t bytes);
    /// Goes on by that many of the bytes that peek() gave.
    void skip(std::size_t bytes) { held_.remove_prefix(bytes); }
    /// The next line without its end; false at the end of the file. Throws UsageError on one longer than `most` bytes.
    [[nodiscard]] bool line(std::string_view& text, std::size_t most = std::size_t{1} << 20);
    /// How many lines were read.
    [[nodiscard]] std::uint64_t lines() const { return lines_; }
    /// Where what is read begins, told by readers of what has no lines of its own; 0: nothing of the file is meant.
    void at(Place place) { lines_ = place.line, column_ = place.column; }
    [[nodiscard]] Place place() const { return {lines_, column_}; }
    /// Throws UsageError with the name of the file, and the number of the line where lines are read.
    [[noreturn]] void refuse(std::string_view why) const;
    [[noreturn]] void refuse_at(Place place, std::string_view why) const;

private:
    std::string name_;
    ByteSource& source_;
    std::string_view held_;
    std::string joined_;
    std::uint64_t lines_ = 0;
    std::uint64_t column_ = 0;
    bool ended_ = false;
};

/// Calls `visit` for each file in `paths`, for each in the folders among them by name, and for each in their archives.
/// Throws UsageError for what cannot be read, and for what unpacks to far more than any trace does.
void each_input(std::vector<std::filesystem::path> const& paths, std::function<void(Input&)> const& visit);

}  // namespace dlmb::input
