// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a fuzz target is made of. A target reads bytes as a program would, lets only the documented refusal pass, and
// holds what was read against a property. Every other exception is a finding.
#pragma once

#include "common/base/error.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace dlmb::fuzz {

/// A property that does not hold.
class Finding : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

inline void require(bool holds, std::string const& what) {
    if (!holds) {
        throw Finding(what);
    }
}

/// As one_line() promises: at most 900 characters of four bytes each, and how many are left out.
inline void require_line(std::string_view text) {
    constexpr std::size_t most_bytes = 4 * 900 + 64;
    bool const printable = std::none_of(text.begin(), text.end(), [](char character) {
        auto const byte = static_cast<unsigned char>(character);
        return byte < ' ' || byte == 0x7f;
    });
    require(!text.empty() && printable && text.size() <= most_bytes, "a message is not one short line");
}

/// False: `read` refused the input with a UsageError, as programs say it.
template <class Read>
bool accepts(Read const& read) {
    try {
        read();
        return true;
    } catch (UsageError const& error) {
        require_line(one_line(error.what()));
        return false;
    }
}

/// A file that is only in memory, for readers that take a path.
class MemoryFile {
public:
    MemoryFile() : file_(memfd_create("fuzz", MFD_CLOEXEC)) { require(file_ >= 0, "memfd_create failed"); }
    MemoryFile(MemoryFile const&) = delete;
    MemoryFile& operator=(MemoryFile const&) = delete;
    MemoryFile(MemoryFile&&) = delete;
    MemoryFile& operator=(MemoryFile&&) = delete;
    ~MemoryFile() { close(file_); }

    void hold(std::string_view content) const {
        bool const held = ftruncate(file_, 0) == 0 &&
                          pwrite(file_, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size());
        require(held, "the file in memory cannot be written");
    }
    [[nodiscard]] std::string content() const {
        std::string text(static_cast<std::size_t>(lseek(file_, 0, SEEK_END)), '\0');
        require(pread(file_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()), "cannot be read");
        return text;
    }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

private:
    int file_;
};

/// The first byte of an input, which chooses among cases; the rest stays in `input`.
inline unsigned take_byte(std::string_view& input) {
    unsigned const byte = input.empty() ? 0 : static_cast<unsigned char>(input.front());
    input.remove_prefix(std::min<std::size_t>(input.size(), 1));
    return byte;
}

}  // namespace dlmb::fuzz
