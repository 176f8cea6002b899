// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Appends whole lines to a result file, and reads such files. A line that a kill or a full disk broke is cut away, so
// that every line of the file can be read at any time. One launch writes to a file at a time. A file that does not
// begin with a line of ours is never changed.
#pragma once

#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/formats/record/record.hpp"

#include <filesystem>
#include <istream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

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
    /// removed, with a note on standard error. Throws UsageError for what is no result file, and OutputError with path
    /// and reason.
    explicit ResultWriter(std::filesystem::path path);
    ResultWriter(ResultWriter const&) = delete;
    ResultWriter& operator=(ResultWriter const&) = delete;
    ResultWriter(ResultWriter&&) = delete;
    ResultWriter& operator=(ResultWriter&&) = delete;
    ~ResultWriter();

    /// Returns when the line (given without a newline) is on the disk. Throws LineNotWritten when it is not; the file
    /// then ends after its last whole line. A file that was removed, moved or replaced takes no line. Not for several
    /// threads at once.
    void append(std::string const& line);
    /// The same for a line in pieces, without allocation, so that a signal handler may call it. False: not on the disk.
    [[nodiscard]] bool append_in_handler(std::span<std::string_view const> line) noexcept;
    /// Where the file was removed: writes the lines that this writer put into it to `file`, each behind `mark`, for
    /// they are in no file any more. In a signal handler, too.
    void print_removed_lines(int file, std::string_view mark) const noexcept;

private:
    void lock();
    void refuse_other_files() const;
    void repair();
    void store(std::string const& text);
    enum class Place { kept, left, removed };
    /// Whether the path still names this file: `left`: the file has another name now. Async-signal-safe.
    [[nodiscard]] Place place() const noexcept;
    /// 0, or the errno of the call that failed; the file then ends as before, unless it cannot be cut either.
    [[nodiscard]] int try_to_store(std::span<std::string_view const> pieces, bool& cut) noexcept;

    std::filesystem::path path_;
    int file_ = -1;
    bool regular_ = false;  // a pipe or device can be neither locked nor cut
    off_t begin_ = 0;       // of what this writer writes to a regular file
    std::string self_;      // a name of the open file that stays when it is removed
};

struct StoredCell {
    std::string launch_id;
    Record cell;
};

struct ResultFile {
    std::vector<Launch> launches;
    std::vector<StoredCell> cells;  // in file order, with the figures of `derived` lines
    std::vector<End> ends;
    std::vector<std::string> remarks;  // "launch 01..ef has no end line: it was killed or still runs"
};

/// Whether a caller can use what dlmb_convert made of the output of other programs.
enum class Converted : std::uint8_t { refused, read };

/// Also of launches that were killed. Unknown fields and unknown kinds of lines are passed over: a newer minor version
/// may have added them. Throws UsageError naming file and line for anything but a broken last line, and for more than
/// `most_stream` bytes of what is no regular file and so may have no end.
[[nodiscard]] ResultFile read_results(std::filesystem::path const& path, Converted converted = Converted::refused,
                                      Bytes most_stream = most_stream_bytes);
/// Of what was opened, or read into memory, as `path`.
[[nodiscard]] ResultFile read_results(std::istream& file, std::filesystem::path const& path,
                                      Converted converted = Converted::refused, Bytes most_stream = most_stream_bytes);

/// The finished cells of one pattern in a result file, for a launch that continues it.
struct FinishedCells {
    std::vector<Launch> launches;
    std::map<std::string, StoredCell> cells;  // by id: the last one with status ok, without its samples
};

/// A file that does not exist has none. Throws UsageError as read_results().
[[nodiscard]] FinishedCells finished_cells(std::filesystem::path const& path, std::string_view pattern);

}  // namespace dlmb::record
