// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/sweep_output.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

namespace dlmb::app::tune {
namespace {

std::string sweep_name(std::string const& path) {
    std::string name = "tuning-" + std::filesystem::path(path).stem().string();
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; }, '-');
    return name;
}

}  // namespace

void write_sweep(std::string const& path, std::vector<tuning::NextJob> const& jobs, tuning::NextLaunches const& how) {
    if (path.empty()) {
        return;
    }
    if (jobs.empty()) {
        fmt::print("{}: nothing is left to measure; not written\n", path);
        return;
    }
    std::ofstream file(path);
    file << sweep_file(sweep_name(path), jobs, how);
    file.close();
    if (!file) {
        throw OutputError(fmt::format("{}: cannot be written", path));
    }
    fmt::print("next      launch/dlmb_sweep {}\n", path);
}

}  // namespace dlmb::app::tune
