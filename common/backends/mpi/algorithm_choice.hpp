// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which algorithms inside the MPI library a method asks for, read from its knobs:
// "algorithm:allreduce=ring:segment=64K". What the library offers is algorithm_catalogue.hpp.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dlmb::mpi {

/// MPI's blocking collectives that this backend calls, named as MPI does, without the prefix.
enum class CollectiveCall : std::uint8_t { allreduce, reduce_scatter_block, allgather, bcast, alltoall, alltoallv };
inline constexpr std::array every_collective_call{CollectiveCall::allreduce, CollectiveCall::reduce_scatter_block,
                                                  CollectiveCall::allgather, CollectiveCall::bcast,
                                                  CollectiveCall::alltoall,  CollectiveCall::alltoallv};
[[nodiscard]] std::string_view name_of(CollectiveCall call);
/// The operation that is done with the call.
[[nodiscard]] OperationKind operation_of(CollectiveCall call);

/// What an algorithm can be told besides its name.
enum class AlgorithmSetting : std::uint8_t { segment, tree_fanout, chain_fanout, max_requests };
inline constexpr std::array every_algorithm_setting{AlgorithmSetting::segment, AlgorithmSetting::tree_fanout,
                                                    AlgorithmSetting::chain_fanout, AlgorithmSetting::max_requests};
[[nodiscard]] std::string_view name_of(AlgorithmSetting setting);

struct AlgorithmChoice {
    std::map<CollectiveCall, std::string> algorithms;   // by call: the library's name of the algorithm
    std::map<AlgorithmSetting, std::int64_t> settings;  // segment in bytes, 0: not cut; the others are counts

    [[nodiscard]] bool empty() const { return algorithms.empty(); }
    /// Call of this plan's exchanges, where the choice names one.
    [[nodiscard]] std::optional<CollectiveCall> exchange_call() const;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(AlgorithmChoice const&) const = default;
};

}  // namespace dlmb::mpi
