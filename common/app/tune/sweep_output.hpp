// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes what to measure next as a sweep file.
#pragma once

#include "common/tuning/build/next_sweep.hpp"

#include <string>
#include <vector>

namespace dlmb::app::tune {

/// Says how to run it, or that nothing is left. Nothing for an empty path. The sweep is named after the file, so that
/// another file has another folder of results. Throws OutputError.
void write_sweep(std::string const& path, std::vector<tuning::NextJob> const& jobs, tuning::NextLaunches const& how);

}  // namespace dlmb::app::tune
