// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/sweep_output.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <fstream>

namespace dlmb::app::tune {

void write_sweep(std::string const& path, char const* name, std::vector<tuning::NextJob> const& jobs,
                 std::uint64_t launches, std::string const& timing) {
    if (path.empty()) {
        return;
    }
    if (jobs.empty()) {
        fmt::print("{}: nothing is left to measure; not written\n", path);
        return;
    }
    std::ofstream file(path);
    file << sweep_file(name, jobs, launches, timing);
    file.close();
    if (!file) {
        throw OutputError(fmt::format("{}: cannot be written", path));
    }
    fmt::print("next      launch/dlmb_sweep {}\n", path);
}

}  // namespace dlmb::app::tune
