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

#include "common/sizes/skew.hpp"
#include "patterns/pattern.hpp"

#include <array>
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

/// Throws UsageError naming the parameters and their values.
[[nodiscard]] Params read_params(Parameters const& parameters, WorldShape const& world);

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::collective
