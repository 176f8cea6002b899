// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What both formats of Open MPI say: for each collective and number of ranks, which algorithm for which bytes.
#pragma once

#include "common/tuning/exporters/mpi_collective.hpp"
#include "common/tuning/exporters/open_mpi_algorithms.hpp"

#include <string>
#include <vector>

namespace dlmb::tuning {

struct OpenMpiRow {
    ByteInterval bytes;
    int algorithm = 0;
    std::string name;
    std::uint64_t fanout = 0;         // 0: the library's own
    std::uint64_t segment_bytes = 0;  // 0: unsegmented
    std::uint64_t max_requests = 0;   // 0: the library's own
};

struct OpenMpiComm {
    CountInterval ranks;
    std::vector<OpenMpiRow> rows;  // ascending, disjoint
    bool single_node = false;      // every rule of it was measured on one node only, and says so
};

struct OpenMpiCollective {
    MpiCollective collective;
    std::vector<OpenMpiComm> comms;  // ascending, disjoint
};

struct OpenMpiRows {
    std::vector<OpenMpiCollective> collectives;  // by open_mpi_id
    std::vector<Lost> lost;
};

/// `most_bytes`: the largest bound that the format can hold. `max_requests`: it has a column for them.
[[nodiscard]] OpenMpiRows open_mpi_rows(TuningTable const& table, Slice const& slice, LibraryVersion version,
                                        Bytes most_bytes, bool max_requests);

}  // namespace dlmb::tuning
