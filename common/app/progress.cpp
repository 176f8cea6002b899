// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/progress.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <unistd.h>

namespace dlmb::app {
namespace {

constexpr std::string_view erase_line = "\r\x1b[K";

}  // namespace

Progress::Progress(bool speaks) : active_(speaks && isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::string_view text) {
    if (active_) {
        fmt::print(stderr, "{}{}", erase_line, text);
        std::fflush(stderr);
        shown_ = true;
    }
}

void Progress::clear() {
    if (shown_) {
        fmt::print(stderr, "{}", erase_line);
        std::fflush(stderr);
        shown_ = false;
    }
}

}  // namespace dlmb::app
