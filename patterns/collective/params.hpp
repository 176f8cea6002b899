// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of collective, read strictly and checked against the world: after this, nothing can be wrong.
#pragma once

#include "common/plan/world.hpp"
#include "common/sizes/skew.hpp"
#include "patterns/pattern.hpp"

#include <array>
#include <span>
#include <string_view>

namespace dlmb::collective {

enum class Kind { allreduce, reduce_scatter, allgather, broadcast, alltoall, alltoallv, sendrecv };

/// By Kind: the values of --operation, which are also the phase labels.
inline constexpr std::array<std::string_view, 7> kind_names{"allreduce", "reduce_scatter", "allgather", "broadcast",
                                                            "alltoall",  "alltoallv",      "sendrecv"};

/// Whom a sendrecv goes to. ring: rank r sends to r + 1 and receives from r - 1 (nccl-tests' sendrecv). ping_pong: rank
/// r of the first half sends to r + ranks / 2, which sends back what it received after it (osu_multi_lat's pairs).
enum class Route { ring, ping_pong };

struct Params {
    Kind kind = Kind::allreduce;
    Bytes message_bytes = 0;  // whole elements; what it counts by kind: README.md
    Element element = Element::fp32;
    Reduction reduction = Reduction::sum;
    bool in_place = false;
    Rank root = 0;
    Route route = Route::ring;
    Skew skew;
};

[[nodiscard]] std::span<ParameterInfo const> parameter_infos();

/// Throws UsageError naming the parameters and their values.
[[nodiscard]] Params read_params(Parameters const& parameters, WorldShape const& world);

/// The largest --message-size: sizes of a million ranks still add up below 2^62.
inline constexpr Bytes max_message_bytes = Bytes{1} << 42;

}  // namespace dlmb::collective
