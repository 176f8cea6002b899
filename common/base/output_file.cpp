// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/output_file.hpp"

#include "common/base/error.hpp"
#include "common/base/quiet_write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dlmb {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // as the kernel
constexpr mode_t new_file = 0666;
constexpr mode_t permissions = 07777;

[[noreturn]] void fail(fs::path const& path, int code) {
    throw OutputError(fmt::format("{}: cannot be written: {}; is its folder there, and is there space?", path.string(),
                                  strerrordesc_np(code)));
}

bool is_link(fs::path const& path) {
    std::error_code error;
    return fs::is_symlink(fs::symlink_status(path, error));
}

/// The kernel follows the descriptor of a link of /proc, as of /dev/stdout, not the name that the link shows.
bool holds_descriptor(fs::path const& link) {
    std::error_code error;
    return fs::canonical(link.has_parent_path() ? link.parent_path() : ".", error).string().rfind("/proc/", 0) == 0;
}

/// Where the links of `path` end; the link itself where that is a descriptor.
fs::path target_of(fs::path path) {
    for (int i = 0; i < most_links && is_link(path) && !holds_descriptor(path); ++i) {
        path = path.parent_path() / fs::read_symlink(path);
    }
    return path;
}

/// Closes `file`. 0 or errno.
int write_and_close(int file, std::string_view text, bool to_disk) {
    QuietWrite const quiet;
    int code = 0;
    while (code == 0 && !text.empty()) {
        ssize_t const written = ::write(file, text.data(), text.size());
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (written == 0 || errno != EINTR) {
            code = written == 0 ? ENOSPC : errno;
        }
    }
    if (code == 0 && to_disk && fsync(file) != 0) {
        code = errno;
    }
    return close(file) != 0 && code == 0 ? errno : code;
}

void write_through(fs::path const& path, std::string_view text) {
    int const file = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    int const code = file < 0 ? errno : write_and_close(file, text, false);
    if (code != 0) {
        fail(path, code);
    }
}

/// `old`: what is there now, or null.
void replace(fs::path const& path, fs::path const& target, std::string_view text, struct stat const* old) {
    fs::path part = target;
    part += fmt::format(".{}.part", getpid());
    unlink(part.c_str());  // of a process with this number that was killed
    int const file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, new_file);
    if (file < 0) {
        fail(path, errno);
    }
    if (old != nullptr) {
        (void)!fchmod(file, old->st_mode & permissions);  // of another owner's file they cannot all be kept
    }
    int code = write_and_close(file, text, true);
    if (code == 0 && std::rename(part.c_str(), target.c_str()) != 0) {
        code = errno;
    }
    if (code != 0) {
        unlink(part.c_str());
        fail(path, code);
    }
}

[[noreturn]] void fail_to_print(int code) {
    throw OutputError(fmt::format("standard output cannot be written{}{}", code != 0 ? ": " : "",
                                  code != 0 ? strerrordesc_np(code) : ""));
}

void print(std::string_view text) {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
        fail_to_print(errno);
    }
    flush_standard_output();
}

}  // namespace

bool is_standard_output(fs::path const& path) {
    struct stat own {};
    struct stat found {};
    return path == "-" || (stat(path.c_str(), &found) == 0 && fstat(STDOUT_FILENO, &own) == 0 &&
                           own.st_dev == found.st_dev && own.st_ino == found.st_ino);
}

void write_output(fs::path const& path, std::string_view text) {
    if (is_standard_output(path)) {
        return print(text);
    }
    struct stat found {};
    if (stat(path.c_str(), &found) != 0) {
        if (errno != ENOENT) {
            fail(path, errno);
        }
        return replace(path, target_of(path), text, nullptr);
    }
    if (S_ISDIR(found.st_mode)) {
        fail(path, EISDIR);
    }
    fs::path const target = target_of(path);
    if (S_ISREG(found.st_mode) && !is_link(target)) {
        return replace(path, target, text, &found);
    }
    write_through(path, text);
}

void flush_standard_output() {
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        fail_to_print(errno);
    }
}

void print_error(std::string_view text) noexcept {
    QuietWrite const quiet;
    while (!text.empty()) {
        ssize_t const written = ::write(STDERR_FILENO, text.data(), text.size());
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (written == 0 || errno != EINTR) {
            return;
        }
    }
}

PrintedTo printed_beside(std::initializer_list<std::string> outputs) {
    return std::none_of(outputs.begin(), outputs.end(), is_standard_output) ? PrintedTo::output : PrintedTo::error;
}

void print_to(PrintedTo stream, std::string_view text) {
    stream == PrintedTo::output ? print(text) : print_error(text);
}

void hold_standard_streams() noexcept {
    for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(stream, F_GETFD) == -1 && errno == EBADF) {
            // The lowest number that is free.
            (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

}  // namespace dlmb
