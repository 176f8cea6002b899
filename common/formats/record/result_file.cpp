// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/record/result_file.hpp"

#include "common/base/output_file.hpp"
#include "common/base/quiet_write.hpp"
#include "common/formats/record/json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace dlmb::record {
namespace {

namespace fs = std::filesystem;

std::string failure(fs::path const& path, std::string_view what, int code) {
    // strerrordesc_np is thread-safe and in English whatever the locale.
    return fmt::format("results {}: {}: {}", path.string(), what, strerrordesc_np(code));
}

/// 0, or the errno of the first call that failed. Async-signal-safe.
int write_all(int file, std::string_view text) noexcept {
    QuietWrite const quiet;
    while (!text.empty()) {
        ssize_t const written = write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return written < 0 ? errno : ENOSPC;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

/// 0 or errno. A network file system may report a full disk only here. Pipes and devices have nothing to flush.
int flush(int file) noexcept {
    QuietWrite const quiet;
    return fdatasync(file) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

/// The text after the last newline of a file; empty when the file ends in one.
struct LastLine {
    std::uint64_t begin = 0;
    std::string text;
};

/// Reads from the end: a result file of gigabytes costs no more than its last line.
LastLine last_line(fs::path const& path) {
    constexpr std::uint64_t chunk_bytes = 65536;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    LastLine last;
    last.begin = file ? static_cast<std::uint64_t>(file.tellg()) : 0;
    while (last.begin > 0) {
        std::uint64_t const bytes = std::min(chunk_bytes, last.begin);
        std::string chunk(bytes, '\0');
        file.seekg(static_cast<std::streamoff>(last.begin - bytes));
        file.read(chunk.data(), static_cast<std::streamsize>(bytes));
        std::size_t const newline = chunk.rfind('\n');
        std::size_t const kept = newline == std::string::npos ? 0 : newline + 1;
        last.text.insert(0, chunk, kept);
        last.begin -= bytes - kept;
        if (newline != std::string::npos) {
            break;
        }
        if (last.text.size() > most_line_bytes) {
            throw OutputError(fmt::format("results {}: the last line is longer than {} MiB; it is no result file",
                                          path.string(), most_line_bytes >> 20));
        }
    }
    return last;
}

/// A JSON object from its first to its last byte.
bool is_whole_line(std::string_view text) {
    return Json::parse(text.begin(), text.end(), nullptr, false).is_object();
}

}  // namespace

ResultWriter::ResultWriter(fs::path path) : path_(std::move(path)) {
    std::error_code failed;
    if (path_.has_parent_path()) {
        fs::create_directories(path_.parent_path(), failed);
    }
    bool const prints = is_standard_output(path_);  // beside the table, whose place in a file would not know of ours
    file_ = prints
                ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                : open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
    if (file_ < 0) {
        throw OutputError(failure(path_, "cannot be opened", errno));
    }
    try {
        struct stat status {};
        regular_ = !prints && fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
        if (regular_) {
            lock();
            refuse_other_files();
            repair();
            begin_ = lseek(file_, 0, SEEK_END);
            self_ = fmt::format("/proc/self/fd/{}", file_);
        }
    } catch (...) {
        close(file_);
        throw;
    }
}

ResultWriter::~ResultWriter() {
    close(file_);
}

void ResultWriter::lock() {
    if (flock(file_, LOCK_EX | LOCK_NB) == 0) {
        return;
    }
    if (errno == EWOULDBLOCK) {
        throw OutputError(
            fmt::format("results {}: another launch is writing to this file; wait for its end or name another file",
                        path_.string()));
    }
    // Some network file systems have no locks; the results are worth more than the protection.
    print_error(fmt::format("{}; two launches must not write to it at the same time\n",
                            failure(path_, "cannot be locked", errno)));
}

/// A kill may have broken the first line, too, but leaves what it begins with.
void ResultWriter::refuse_other_files() const {
    constexpr std::array<std::string_view, 4> begins{
        R"({"kind":"launch","schema":"dlmb.result/)", R"({"kind":"cell","launch_id":")",
        R"({"kind":"derived","launch_id":")", R"({"kind":"end","launch_id":")"};
    constexpr std::size_t enough = 100;
    std::ifstream file(path_, std::ios::binary);
    std::string begin(enough, '\0');
    file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<std::size_t>(file.gcount()));
    if (begin.empty()) {
        return;
    }
    std::erase(begin, ' ');  // Python writes some
    if (std::none_of(begins.begin(), begins.end(), [&](std::string_view ours) { return begin.starts_with(ours); })) {
        throw UsageError(fmt::format(
            "results {}: holds something else than results, so it is not changed; name another file", path_.string()));
    }
}

void ResultWriter::repair() {
    LastLine const last = last_line(path_);
    if (last.text.empty()) {
        return;
    }
    if (is_whole_line(last.text)) {
        store("\n");
        return;
    }
    if (ftruncate(file_, static_cast<off_t>(last.begin)) != 0) {
        throw OutputError(failure(path_, "its broken last line cannot be removed", errno));
    }
    print_error(fmt::format("results {}: removed a broken last line of {} bytes, left by a launch that was killed\n",
                            path_.string(), last.text.size()));
}

void ResultWriter::append(std::string const& line) {
    if (line.find('\n') != std::string::npos) {
        throw Error("a result line must not contain a line break");
    }
    if (Place const now = place(); now != Place::kept) {
        throw LineNotWritten(fmt::format("results {}: the file was {} during the launch", path_.string(),
                                         now == Place::removed ? "removed" : "moved or replaced"),
                             line);
    }
    try {
        store(line + '\n');
    } catch (OutputError const& error) {
        throw LineNotWritten(error.what(), line);
    }
}

bool ResultWriter::append_in_handler(std::span<std::string_view const> line) noexcept {
    bool cut = false;
    return place() == Place::kept && try_to_store(line, cut) == 0;
}

ResultWriter::Place ResultWriter::place() const noexcept {
    struct stat open_file {};
    struct stat named {};
    if (!regular_ || fstat(file_, &open_file) != 0) {
        return Place::kept;
    }
    bool const is_there = stat(path_.c_str(), &named) == 0;
    if (is_there && named.st_dev == open_file.st_dev && named.st_ino == open_file.st_ino) {
        return Place::kept;
    }
    if (open_file.st_nlink == 0) {
        return Place::removed;
    }
    return is_there || errno == ENOENT || errno == ENOTDIR ? Place::left : Place::kept;  // else nobody can tell
}

void ResultWriter::print_removed_lines(int file, std::string_view mark) const noexcept {
    int const removed = place() == Place::removed ? open(self_.c_str(), O_RDONLY | O_CLOEXEC) : -1;
    if (removed < 0) {
        return;
    }
    std::array<char, 4096> chunk{};
    bool begins = true;
    ssize_t got = lseek(removed, begin_, SEEK_SET) == begin_ ? 1 : 0;
    while (got > 0 && (got = ::read(removed, chunk.data(), chunk.size())) > 0) {
        std::string_view text(chunk.data(), static_cast<std::size_t>(got));
        while (!text.empty()) {
            std::string_view const piece = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
            if (begins) {
                (void)write_all(file, mark);
            }
            (void)write_all(file, piece);
            begins = piece.back() == '\n';
            text.remove_prefix(piece.size());
        }
    }
    close(removed);
}

void ResultWriter::store(std::string const& text) {
    bool cut = false;
    std::string_view const piece = text;
    if (int const code = try_to_store({&piece, 1}, cut); code != 0) {
        throw OutputError(
            failure(path_, cut ? "cannot be written" : "cannot be written, its last line is broken", code));
    }
}

int ResultWriter::try_to_store(std::span<std::string_view const> pieces, bool& cut) noexcept {
    off_t const whole = regular_ ? lseek(file_, 0, SEEK_END) : 0;
    int code = 0;
    for (std::size_t i = 0; i < pieces.size() && code == 0; ++i) {
        code = write_all(file_, pieces[i]);
    }
    code = code == 0 ? flush(file_) : code;
    cut = code != 0 && (!regular_ || ftruncate(file_, whole) == 0);
    return code;
}

namespace {

struct StoredLine {
    std::uint64_t number = 0;  // from 1
    Json object;
};

[[noreturn]] void refuse(fs::path const& path, std::uint64_t number, std::string_view why) {
    throw UsageError(fmt::format("{}:{}: {}", path.string(), number, why));
}

std::ifstream opened(fs::path const& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw UsageError(fmt::format("{}: cannot be read", path.string()));
    }
    return file;
}

/// Calls `use` with every line and returns the number of the last one if that is broken, else 0. An unterminated last
/// line counts when it is whole: the kill may have come between its last byte and its newline.
std::uint64_t for_each_line(std::istream& file, fs::path const& path, Bytes most_stream,
                            std::function<void(StoredLine const&)> const& use) {
    bool const has_size = fs::is_regular_file(path);
    Bytes total = 0;
    std::uint64_t number = 0;
    std::string text;
    auto const next = [&] {
        ++number;
        try {
            return read_line(file, text);
        } catch (std::exception const& error) {  // also of the stream: a folder, a fault of the disk
            refuse(path, number, error.what());
        }
    };
    while (next()) {
        total += text.size() + 1;
        if (!has_size && total > most_stream) {
            refuse(path, number, fmt::format("more than {} MiB from what is no regular file", most_stream >> 20));
        }
        Json object = Json::parse(text, nullptr, false);
        if (!object.is_object()) {
            if (file.eof()) {
                return number;
            }
            refuse(path, number, "not a JSON object");
        }
        StoredLine const line{number, std::move(object)};
        try {
            use(line);
        } catch (Json::exception const& error) {
            refuse(path, number, error.what());
        } catch (UsageError const& error) {
            refuse(path, number, error.what());
        }
    }
    return 0;
}

std::string kind_of(Json const& object) {
    return object.at("kind").get<std::string>();
}

void check_schema(Json const& launch) {
    std::string const known{result_schema};
    std::string const found = launch.at("schema");
    std::string const major = known.substr(0, known.find('.', known.find('/')) + 1);  // "dlmb.result/1."
    if (!found.starts_with(major)) {
        throw UsageError(fmt::format("schema {} cannot be read by this program, which knows {}x", found, major));
    }
}

/// Later figures win.
void add(Derived& derived, Record& cell) {
    derived.statistics.merge(cell.statistics);
    cell.statistics = std::move(derived.statistics);
}

template <class Ids>
bool has(Ids const& ids, std::string const& launch_id) {
    return std::any_of(ids.begin(), ids.end(), [&](auto const& each) { return each.launch_id == launch_id; });
}

void add_remarks(ResultFile& results) {
    for (Launch const& launch : results.launches) {
        if (on_test_double(launch.environment)) {
            results.remarks.push_back(fmt::format("launch {}: {}", launch.launch_id, test_double_warning));
        }
        if (!has(results.ends, launch.launch_id)) {
            results.remarks.push_back(
                fmt::format("launch {} has no end line: it was killed or is still running", launch.launch_id));
        }
    }
}

}  // namespace

ResultFile read_results(fs::path const& path, Converted converted, Bytes most_stream) {
    std::ifstream file = opened(path);
    return read_results(file, path, converted, most_stream);
}

ResultFile read_results(std::istream& file, fs::path const& path, Converted converted, Bytes most_stream) {
    ResultFile results;
    std::map<std::string, std::size_t> last;  // ok cell of an id
    std::uint64_t const broken = for_each_line(file, path, most_stream, [&](StoredLine const& line) {
        std::string const kind = kind_of(line.object);
        if (kind == "launch") {
            check_schema(line.object);
            if (line.object.contains("origin") && converted == Converted::refused) {
                throw UsageError("converted from the output of another program, which says nothing of launches and was "
                                 "not checked; only dlmb_plot, dlmb_compare and dlmb_tune build read it");
            }
            results.launches.push_back(launch_from(line.object));
        } else if (kind == "cell") {
            StoredCell stored{line.object.at("launch_id"), record_from(line.object)};
            if (!has(results.launches, stored.launch_id)) {
                throw UsageError(fmt::format("cell of launch {}, which has no line above", stored.launch_id));
            }
            bool const ok = stored.cell.result.status == Status::ok;
            results.cells.push_back(std::move(stored));
            if (ok) {
                last[results.cells.back().cell.cell_id] = results.cells.size() - 1;
            }
        } else if (kind == "derived") {
            Derived derived = derived_from(line.object);
            if (auto const cell = last.find(derived.cell_id); cell != last.end()) {
                add(derived, results.cells[cell->second].cell);
            }
        } else if (kind == "end") {
            results.ends.push_back(end_from(line.object));
        }
    });
    if (broken > 0) {
        results.remarks.push_back(
            fmt::format("line {} is broken and was passed over: the launch was killed while writing", broken));
    }
    add_remarks(results);
    return results;
}

FinishedCells finished_cells(fs::path const& path, std::string_view pattern) {
    FinishedCells finished;
    std::error_code why_unknown;  // whether it exists: opening it says why
    if (!fs::exists(path, why_unknown) && !why_unknown) {
        return finished;
    }
    std::ifstream file = opened(path);
    for_each_line(file, path, most_stream_bytes, [&](StoredLine const& line) {
        std::string const kind = kind_of(line.object);
        if (line.object.contains("origin")) {
            return;
        }
        if (kind == "launch") {
            check_schema(line.object);
            finished.launches.push_back(launch_from(line.object));
        } else if (kind == "cell" && line.object.at("status") == "ok" && line.object.at("pattern") == pattern) {
            StoredCell stored{line.object.at("launch_id"), record_from(line.object)};
            stored.cell.result.samples_ns = {};
            std::string const id = stored.cell.cell_id;
            finished.cells.insert_or_assign(id, std::move(stored));
        } else if (kind == "derived") {
            Derived derived = derived_from(line.object);
            if (auto const cell = finished.cells.find(derived.cell_id); cell != finished.cells.end()) {
                add(derived, cell->second.cell);
            }
        }
    });
    return finished;
}

}  // namespace dlmb::record
