// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/input/input.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <fstream>
#include <new>
#include <utility>

namespace dlmb::input {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_line = std::size_t{1} << 20;
constexpr std::size_t piece_bytes = std::size_t{1} << 18;
constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // which Windows writes in front of UTF-8

// JSON of traces shrinks by 10 to 40. What shrinks by more than this is made to fill memory or time.
constexpr Bytes most_expansion = 250;
constexpr Bytes expansion_allowed = Bytes{256} << 20;

class FileSource : public ByteSource {
public:
    explicit FileSource(fs::path const& path)
        : name_(path.string()), file_(path == "-" ? "/dev/stdin" : path, std::ios::binary), piece_(piece_bytes, '\0') {
        if (!file_) {
            throw UsageError(fmt::format("{}: cannot be read", name_));
        }
    }
    std::string_view next() override {
        file_.read(piece_.data(), static_cast<std::streamsize>(piece_.size()));
        if (file_.bad()) {
            throw UsageError(fmt::format("{}: cannot be read", name_));
        }
        return std::string_view(piece_).substr(0, static_cast<std::size_t>(file_.gcount()));
    }

private:
    std::string name_;
    std::ifstream file_;
    std::string piece_;
};

/// What libarchive makes of a source: the members of an archive, or the one file that was compressed or plain.
class Unpacked : public ByteSource {
public:
    Unpacked(std::string name, ByteSource& packed)
        : name_(std::move(name)), packed_(packed), archive_(archive_read_new()) {
        archive* const reader = archive_.get();
        if (reader == nullptr) {
            throw std::bad_alloc();
        }
        for (auto* const support : {archive_read_support_filter_gzip, archive_read_support_format_tar,
                                    archive_read_support_format_zip_streamable, archive_read_support_format_empty,
                                    archive_read_support_format_raw}) {
            require(support(reader));
        }
        require(archive_read_open(reader, this, nullptr, read_packed, nullptr));
    }

    /// Goes on to the next member; false behind the last.
    [[nodiscard]] bool next_member() {
        int const result = archive_read_next_header(archive_.get(), &entry_);
        rethrow();
        if (result == ARCHIVE_EOF) {
            return false;
        }
        require(result);
        return true;
    }
    [[nodiscard]] bool is_plain() const {
        return archive_format(archive_.get()) == ARCHIVE_FORMAT_RAW ||
               archive_format(archive_.get()) == ARCHIVE_FORMAT_EMPTY;
    }
    [[nodiscard]] bool is_file() const { return is_plain() || archive_entry_filetype(entry_) == AE_IFREG; }
    [[nodiscard]] std::string member() const {
        char const* const path = archive_entry_pathname(entry_);
        return path == nullptr ? std::string("?") : std::string(path);
    }

    std::string_view next() override {
        void const* data = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        do {
            int const result = archive_read_data_block(archive_.get(), &data, &size, &offset);
            rethrow();
            if (result == ARCHIVE_EOF) {
                return {};
            }
            require(result);
        } while (size == 0);
        unpacked_bytes_ += size;
        if (unpacked_bytes_ > expansion_allowed && unpacked_bytes_ / most_expansion > packed_bytes_) {
            throw UsageError(
                fmt::format("{}: unpacks to more than {} times its size, which no trace does", name_, most_expansion));
        }
        return {static_cast<char const*>(data), size};
    }

private:
    struct Free {
        void operator()(archive* reader) const { archive_read_free(reader); }
    };

    /// libarchive is C: an exception waits until it has returned.
    static la_ssize_t read_packed(archive* /*reader*/, void* self, void const** data) {
        auto& mine = *static_cast<Unpacked*>(self);
        try {
            std::string_view const piece = mine.packed_.next();
            mine.packed_bytes_ += piece.size();
            *data = piece.data();
            return static_cast<la_ssize_t>(piece.size());
        } catch (...) {
            mine.fault_ = std::current_exception();
            return ARCHIVE_FATAL;
        }
    }
    void rethrow() {
        if (fault_) {
            std::rethrow_exception(std::exchange(fault_, nullptr));
        }
    }
    void require(int result) {
        rethrow();
        if (result != ARCHIVE_OK && result != ARCHIVE_WARN) {
            char const* const why = archive_error_string(archive_.get());
            throw UsageError(fmt::format("{}: cannot be unpacked: {}", name_, why == nullptr ? "damaged" : why));
        }
    }

    std::string name_;
    ByteSource& packed_;
    Bytes packed_bytes_ = 0;
    Bytes unpacked_bytes_ = 0;
    std::unique_ptr<archive, Free> archive_;
    archive_entry* entry_ = nullptr;
    std::exception_ptr fault_;
};

/// Gives back what was looked at, then the rest.
class Resumed : public ByteSource {
public:
    Resumed(std::string_view first, ByteSource& rest) : first_(first), rest_(rest) {}
    std::string_view next() override {
        if (!first_.empty()) {
            return std::exchange(first_, {});
        }
        return rest_.next();
    }

private:
    std::string_view first_;
    ByteSource& rest_;
};

/// Hidden files are no traces; macOS writes one of attributes beside each file.
bool is_hidden(fs::path const& file) {
    return file.filename().string().starts_with('.') || file.string().starts_with("__MACOSX/");
}

void visit_unpacked(std::string const& name, ByteSource& packed, int depth, std::function<void(Input&)> const& visit) {
    Unpacked files(name, packed);
    while (files.next_member()) {
        if (!files.is_plain() && (!files.is_file() || is_hidden(files.member()))) {
            continue;
        }
        std::string const member = files.is_plain() ? name : fmt::format("{}:{}", name, files.member());
        std::string const first(files.next());
        Resumed whole(first, files);
        constexpr int most_depth = 2;  // a tar file of compressed files
        if (depth < most_depth && !files.is_plain() && first.starts_with(gzip_magic)) {
            visit_unpacked(member, whole, depth + 1, visit);
            continue;
        }
        Input input(member, whole);
        if (input.peek(byte_order_mark.size()).starts_with(byte_order_mark)) {
            input.skip(byte_order_mark.size());
        }
        visit(input);
    }
}

void visit_path(fs::path const& path, std::function<void(Input&)> const& visit) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        std::vector<fs::path> files;
        for (auto const& entry : fs::directory_iterator(path, ignored)) {
            if (entry.is_regular_file(ignored) && !is_hidden(entry.path())) {
                files.push_back(entry.path());
            }
        }
        std::sort(files.begin(), files.end());
        if (files.empty()) {
            throw UsageError(fmt::format("{}: no file in this folder", path.string()));
        }
        for (fs::path const& file : files) {
            visit_path(file, visit);
        }
        return;
    }
    FileSource file(path);
    bool any = false;
    visit_unpacked(path.string(), file, 1, [&](Input& input) {
        any = true;
        visit(input);
    });
    if (!any) {
        throw UsageError(fmt::format("{}: an archive without a file", path.string()));
    }
}

}  // namespace

std::string_view Input::peek(std::size_t bytes) {
    if (held_.size() >= bytes || ended_) {
        return held_;
    }
    if (held_.empty()) {
        held_ = source_.next();
        ended_ = held_.empty();
        if (held_.size() >= bytes || ended_) {
            return held_;
        }
    }
    std::string joined(held_);
    while (joined.size() < bytes && !ended_) {
        std::string_view const piece = source_.next();
        ended_ = piece.empty();
        joined.append(piece);
    }
    joined_ = std::move(joined);
    held_ = joined_;
    return held_;
}

bool Input::line(std::string_view& text) {
    std::size_t end = peek(1).find('\n');
    while (end == std::string_view::npos && !ended_) {
        if (held_.size() > most_line) {
            refuse("a line is longer than 1 MiB");
        }
        std::size_t const known = held_.size();
        end = peek(known + 1).find('\n', known);
    }
    if (held_.empty()) {
        return false;
    }
    ++lines_;
    text = held_.substr(0, end);
    held_.remove_prefix(std::min(text.size() + 1, held_.size()));
    if (text.ends_with('\r')) {
        text.remove_suffix(1);
    }
    return true;
}

void Input::refuse(std::string_view why) const {
    throw UsageError(lines_ > 0 ? fmt::format("{}: line {}: {}", name_, lines_, why)
                                : fmt::format("{}: {}", name_, why));
}

void Input::refuse_at(Place place, std::string_view why) const {
    throw UsageError(fmt::format("{}: line {}, column {}: {}", name_, place.line, place.column, why));
}

void Place::pass(std::string_view text) {
    auto const ends = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    line += ends;
    column = ends > 0 ? text.size() - text.rfind('\n') : column + text.size();
}

void each_input(std::vector<fs::path> const& paths, std::function<void(Input&)> const& visit) {
    for (fs::path const& path : paths) {
        visit_path(path, visit);
    }
}

}  // namespace dlmb::input
