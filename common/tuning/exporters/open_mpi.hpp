// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Exports for coll/tuned of Open MPI: the rules file of 4.1 and 5.0 (coll_tuned_dynamic_file.c) and the JSON of 6.0.
// Both compare bytes of basis_of (dt * count * n where n shares make the whole).
#pragma once

#include "common/tuning/exporters/export.hpp"

#include <string>

namespace dlmb::tuning {

struct OpenMpiInfo {
    std::string version;  // "4.1.4"; algorithms are known by version
};

/// dlmb_rules.conf. Ranges of sizes and ranks that no rule covers are fenced off with algorithm 0, the library's own
/// decision: an entry of this format holds for everything above it, and the first one for everything below it, too.
[[nodiscard]] Export to_open_mpi(TuningTable const& table, Slice const& slice, OpenMpiInfo const& info);

/// dlmb_rules.json, for 6.0 and later. Not tried with a library: none of that version was at hand.
[[nodiscard]] Export to_open_mpi6(TuningTable const& table, Slice const& slice, OpenMpiInfo const& info);

}  // namespace dlmb::tuning
