// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One plain operation per iteration, the same on all ranks: what OSU Micro-Benchmarks and nccl-tests measure, as the
// bridge to their figures and as the bulk of tuning data.
//
//   allreduce, reduce_scatter, allgather, broadcast    one collective of all ranks
//   alltoall, alltoallv                                one exchange, equal or skewed
//   sendrecv                                           one message to the next rank, or there and back in pairs
//
// What a message size counts, and where it differs from the suites: README.md. Not here: ranges of sizes (common/app).
#pragma once

#include "patterns/pattern.hpp"

namespace dlmb::collective {

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::collective
