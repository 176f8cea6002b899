// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/launch_id.hpp"

#include <fmt/core.h>

#include <ctime>
#include <random>

namespace dlmb::record {

std::string new_launch_id() {
    std::random_device source;
    return fmt::format("{:08x}{:08x}", source(), source());
}

std::string utc_now() {
    std::time_t const seconds = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                       parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace dlmb::record
