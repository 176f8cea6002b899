// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The next measurements, as a sweep file of dlmb_sweep: winners that no fresh launch has seen yet, sizes where more
// launches decide, and sizes between neighbours that chose differently.
#pragma once

#include "common/tools/tune/build/build_table.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dlmb::tuning {

/// One job of the sweep: only these methods at only these sizes.
struct NextJob {
    Conditions conditions;
    std::vector<Bytes> bytes;          // ascending, in basis_of(operation)
    std::vector<std::string> methods;  // as --method takes them, the default first
    std::string backend;
};

/// The winners that stand so, each against the default at its sizes: `unconfirmed` ones on fresh launches, `undecided`
/// ones in more launches, to be added to those that found them.
[[nodiscard]] std::vector<NextJob> winners_again(Built const& built, Outcome outcome);
/// Cuts that are coarser than policy.cut, by all methods that hold beside them.
[[nodiscard]] std::vector<NextJob> refinements(Built const& built, Policy const& policy, bool accept_unconfirmed);

/// Whether dlmb_collective has exchanges as uneven as these: not where one rank gets or sends everything.
[[nodiscard]] bool can_be_made(Conditions const& conditions);

/// How all jobs are measured.
struct NextLaunches {
    std::uint64_t launches;
    std::string timing = "isolated";  // as --timing takes it
    std::string cache = {};           // as --cache takes it; empty: as programs do by default
    std::string time_limit = {};      // as --time-limit takes it; empty: 1 s for each cell
};

/// Empty text for no jobs.
[[nodiscard]] std::string sweep_file(std::string const& name, std::vector<NextJob> const& jobs,
                                     NextLaunches const& how);

}  // namespace dlmb::tuning
