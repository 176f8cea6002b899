// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/input/input.hpp"

#include "common/base/error.hpp"
#include "common/formats/input/unpack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace dlmb::input {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece_bytes = std::size_t{1} << 18;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // which Windows writes in front of UTF-8

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
    visit_unpacked(path.string(), file, [&](Input& input) {
        any = true;
        if (input.peek(byte_order_mark.size()).starts_with(byte_order_mark)) {
            input.skip(byte_order_mark.size());
        }
        visit(input);
    });
    if (!any) {
        throw UsageError(fmt::format("{}: is empty, or an archive without a file", path.string()));
    }
}

}  // namespace

bool is_hidden(fs::path const& file) {
    return file.filename().string().starts_with('.') || file.string().starts_with("__MACOSX/");
}

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

bool Input::line(std::string_view& text, std::size_t most) {
    std::size_t end = peek(1).find('\n');
    while (end == std::string_view::npos && !ended_) {
        if (held_.size() > most) {
            refuse(fmt::format("a line is longer than {} MiB", most >> 20U));
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
