// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Export for MPICH and its relatives: the JSON tree of src/mpi/coll/src/csel.c. A tree of ours replaces the whole tree
// of the library, so ours is the library's own with rules spliced in.
#pragma once

#include "common/tuning/exporters/export.hpp"

#include <filesystem>
#include <set>
#include <string>

namespace dlmb::tuning {

struct MpichInfo {
    std::string tree;                  // the selection tree compiled into the library, as JSON
    std::set<std::string> algorithms;  // leaves that the library knows: "MPIR_Allreduce_intra_smp"
    std::string origin;                // where both come from, for the reader
};

/// Both are text in the library; packages ship no file of them. Throws UsageError when the file cannot be read or holds
/// no tree.
[[nodiscard]] MpichInfo read_mpich(std::filesystem::path const& library);

/// dlmb_collectives.json. Every size and number of ranks that no rule covers keeps the subtree of the library.
/// Throws UsageError when the tree is not one of csel.c.
[[nodiscard]] Export to_mpich(TuningTable const& table, Slice const& slice, MpichInfo const& info);

}  // namespace dlmb::tuning
