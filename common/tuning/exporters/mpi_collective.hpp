// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The calls of MPI that tuning files speak of, and the rules that are about each of them.
#pragma once

#include "common/tuning/exporters/select_rules.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace dlmb::tuning {

/// A reduce_scatter is MPI_Reduce_scatter_block: that is what was measured.
enum class MpiCollective : std::uint8_t { allgather, allreduce, alltoall, alltoallv, bcast, reduce_scatter_block };
inline constexpr std::array every_mpi_collective{MpiCollective::allgather, MpiCollective::allreduce,
                                                 MpiCollective::alltoall,  MpiCollective::alltoallv,
                                                 MpiCollective::bcast,     MpiCollective::reduce_scatter_block};

/// "reduce_scatter_block": as MPI_Reduce_scatter_block in lower case.
[[nodiscard]] std::string_view name_of(MpiCollective collective);

/// The call that a rule can steer. An exchange of equal blocks is MPI_Alltoall, any other MPI_Alltoallv. Nothing: none.
[[nodiscard]] std::optional<MpiCollective> collective_of(When const& when);

/// The rules of one call. Those whose bytes the library does not see (alltoallv) come back as one choice for all sizes
/// where it wins or ties at every measured one; this is noted in `lost`, whichever way it went.
[[nodiscard]] std::vector<Carried> rules_of(MpiCollective collective, std::vector<Carried> const& rules,
                                            std::vector<Lost>& lost);

/// Notes the rules that choose something for what is no collective of MPI.
void lose_other_operations(std::vector<Carried> const& rules, std::vector<Lost>& lost);

}  // namespace dlmb::tuning
