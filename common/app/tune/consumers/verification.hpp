// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What dlmb_tune verify finds out: whether an export acts in its consumer where the table says so, and only there.
#pragma once

#include "common/app/tune/consumers/consumers.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::app::tune {

struct Check {
    bool held = false;
    std::string what;  // one line: what was tried, what was expected, what was seen
};

struct Verification {
    std::vector<Check> checks;
    std::vector<std::string> timings;  // with and without the export, one line each
    std::string skipped;               // why nothing could be tried; empty: it was
};

struct VerifyRequest {
    ExportRequest request;
    tuning::TuningTable const& table;
    tuning::Export const& made;                      // what the files should be
    std::map<std::string, std::string> environment;  // what makes the consumer read the files
    std::optional<std::uint64_t> ranks;              // only these; absent: what the rules name
    std::string mpiexec;
    std::size_t rounds = 0;  // of timing
};

/// Open MPI and MPICH: what an export does against what the forced algorithm, or no export, does.
[[nodiscard]] Verification verify_mpi(VerifyRequest const& request);
/// UCX: from which size on its protocol table shows rendezvous.
[[nodiscard]] Verification verify_ucx(VerifyRequest const& request);
/// NCCL: that it loads the plugin, and what its log says it chose. Skipped without a GPU.
[[nodiscard]] Verification verify_nccl(VerifyRequest const& request);

}  // namespace dlmb::app::tune
