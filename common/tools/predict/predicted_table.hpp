// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A tuning table for jobs that nobody measured: at each size the algorithm of an MPI library that a machine model has
// for the fastest.
#pragma once

#include "common/formats/table/table.hpp"
#include "common/tools/predict/machine_model.hpp"

#include <string>
#include <vector>

namespace dlmb::predict {

struct TableQuestion {
    std::vector<Topology> jobs;
    std::vector<Bytes> sizes;  // of the full vector, ascending
    std::string family;        // "open_mpi.tuned", "mpich": only algorithms of this library
};

struct PredictedTable {
    std::vector<tuning::Rule> rules;
    std::vector<std::string> left_out;  // "alltoall: the held-out error of alltoall is 53 %"
};

/// Allreduce, allgather, alltoall, broadcast: those that Open MPI and MPICH can be told algorithms of. An algorithm is
/// chosen where its interval is below those of all others; elsewhere there is no rule, and the library decides. Sizes
/// between two that were asked for get the choice of the smaller one where both have one. The gain is that over the
/// algorithm which is the fastest on the most nodes of the model's measurements, its interval from those of both times,
/// which is wide, for both err alike; 0 where it is the same. Throws UsageError for no jobs or sizes.
[[nodiscard]] PredictedTable predicted_table(MachineModel const& model, TableQuestion const& question);

}  // namespace dlmb::predict
