// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a selection tree of MPICH is given: for each call and number of ranks, which leaf for which sizes in the unit of
// that call's key.
#pragma once

#include "common/tuning/exporters/mpich.hpp"
#include "common/tuning/exporters/mpich_algorithms.hpp"

#include <vector>

namespace dlmb::tuning {

/// Sizes and ranks are read with atoi.
inline constexpr std::uint64_t mpich_most = 2147483647;

struct MpichRow {
    ByteInterval bytes;  // of the key; a max of no_limit: all larger ones
    MpichAlgorithm const* algorithm = nullptr;
};

struct MpichComm {
    CountInterval ranks;
    std::vector<MpichRow> rows;  // ascending, disjoint
};

/// "avg_msg_size", "total_msg_size", or empty: the call is chosen without its size. 4.0.2 aborts on avg_msg_size
/// elsewhere than in allreduce, bcast, reduce and alltoall.
[[nodiscard]] std::string_view mpich_size_key(MpiCollective collective);

[[nodiscard]] std::vector<MpichComm> mpich_rows(MpiCollective collective, std::vector<Carried> const& rules,
                                                MpichInfo const& info, std::vector<Lost>& lost);

}  // namespace dlmb::tuning
