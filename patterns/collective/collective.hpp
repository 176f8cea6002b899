// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One plain operation per iteration, the same on all ranks: what OSU Micro-Benchmarks and nccl-tests measure, as the
// bridge to their figures and as the bulk of tuning data.
//
//   allreduce, reduce, reduce_scatter_block, allgather, gather, scatter, broadcast, barrier    equal parts
//   reduce_scatter, allgatherv, gatherv, scatterv    the same with parts that are named, equal or skewed
//   alltoall, alltoallv                              one exchange, equal or skewed
//   sendrecv                                         one message to the next rank, there and back in pairs, or rounds
//   bandwidth, message_rate, bibandwidth             windows of messages in pairs of ranks, or of one rank with many
//
// Message sizes, and where they differ from the suites: README.md. Not here: ranges of sizes (common/run).
#pragma once

#include "common/sizes/skew.hpp"
#include "patterns/pattern.hpp"

#include <array>
#include <iterator>
#include <string_view>

namespace dlmb::collective {

enum class Kind {
    allreduce,
    reduce,
    reduce_scatter_block,
    reduce_scatter,
    allgather,
    allgatherv,
    gather,
    gatherv,
    scatter,
    scatterv,
    broadcast,
    barrier,
    alltoall,
    alltoallv,
    sendrecv,
    bandwidth,
    bibandwidth,
    message_rate
};

struct KindInfo {
    Kind kind;
    std::string_view name;  // the value of --operation, and the phase label
    OperationKind operation;
    bool per_rank = false;  // the message size is that of each rank's part, not of the buffer
    bool shares = false;    // the parts are named, as MPI's vector forms take them, and --skew makes them uneven
    bool in_place = false;  // MPI knows such a form, of reductions, gathers and scatters NCCL, too
    bool windows = false;   // many messages between pairs of ranks
};

/// By Kind.
inline constexpr KindInfo kind_table[] = {
    {Kind::allreduce, "allreduce", OperationKind::all_reduce, false, false, true},
    {Kind::reduce, "reduce", OperationKind::reduce, false, false, true},
    {Kind::reduce_scatter_block, "reduce_scatter_block", OperationKind::reduce_scatter, false, false, true},
    {Kind::reduce_scatter, "reduce_scatter", OperationKind::reduce_scatter, false, true, true},
    {Kind::allgather, "allgather", OperationKind::all_gather, true, false, true},
    {Kind::allgatherv, "allgatherv", OperationKind::all_gather, true, true, true},
    {Kind::gather, "gather", OperationKind::gather, true, false, true},
    {Kind::gatherv, "gatherv", OperationKind::gather, true, true, true},
    {Kind::scatter, "scatter", OperationKind::scatter, true, false, true},
    {Kind::scatterv, "scatterv", OperationKind::scatter, true, true, true},
    {Kind::broadcast, "broadcast", OperationKind::broadcast},
    {Kind::barrier, "barrier", OperationKind::barrier},
    {Kind::alltoall, "alltoall", OperationKind::exchange, true, false, true},
    {Kind::alltoallv, "alltoallv", OperationKind::exchange, true, false, true},
    {Kind::sendrecv, "sendrecv", OperationKind::send},
    {Kind::bandwidth, "bandwidth", OperationKind::send, false, false, false, true},
    {Kind::bibandwidth, "bibandwidth", OperationKind::send, false, false, false, true},
    {Kind::message_rate, "message_rate", OperationKind::send, false, false, false, true},
};
[[nodiscard]] constexpr KindInfo const& info_of(Kind kind) {
    return kind_table[static_cast<std::size_t>(kind)];
}

inline constexpr auto kind_names = [] {
    std::array<std::string_view, std::size(kind_table)> names{};
    for (std::size_t row = 0; row < names.size(); ++row) {
        names[row] = kind_table[row].kind == static_cast<Kind>(row) ? kind_table[row].name : throw "not by Kind";
    }
    return names;
}();

/// Whom a sendrecv goes to. ring: rank r sends to r + 1 and receives from r - 1 (nccl-tests' sendrecv). ping_pong: rank
/// r of the first half sends to r + ranks / 2, which sends back what it received after it (osu_multi_lat's pairs).
/// hypercube: in round k all ranks exchange 2^k messages with rank r xor 2^k (the messages of nccl-tests' HyperCube).
/// fan_in, fan_out: windows of all ranks of other nodes to, or from, the rank at their place on the first node (OSU's
/// osu_bw_fan_in and osu_bw_fan_out); on one node every rank counts as a node.
enum class Route { ring, ping_pong, hypercube, fan_in, fan_out };

/// Values of --window, --window-buffers, --pairs and --route: rank r of the first `pairs` sends to r + ranks / 2; in a
/// fan, rank r >= hubs is the other side of rank r mod hubs.
struct Windows {
    int messages = 64;
    bool one_buffer = true;  // all messages of a window from one place to one place
    int pairs = 0;
    int hubs = 0;  // of a fan; 0: pairs
};

/// Values of --skew neighbors:DIMENSIONS:RADIUS: the ranks form a periodic grid, and each rank sends to all ranks at
/// most `radius` away in every dimension.
struct Neighborhood {
    int dimensions = 1;
    int radius = 1;
};

/// The computation beside the operation: --compute, --compute-us and --compute-progress.
struct ComputeBeside {
    bool computes = false;
    Nanoseconds busy_ns = 0;
    bool multiplies = false;
    bool uninterrupted = true;
};

struct Params {
    Kind kind = Kind::allreduce;
    Bytes message_bytes = 0;  // whole elements; what it counts by kind: README.md
    Element element = Element::fp32;
    Reduction reduction = Reduction::sum;
    bool in_place = false;
    Rank root = 0;
    Route route = Route::ring;
    int channels = 1;  // of a ping_pong: that many at once
    Windows windows;
    ComputeBeside compute;
    Skew skew;
    std::optional<double> spread;           // --skew distance:SPREAD, of alltoallv, in place of a skew
    std::optional<Neighborhood> neighbors;  // --skew neighbors:D:R, likewise
};

/// Throws UsageError naming the parameters and their values.
[[nodiscard]] Params read_params(Parameters const& parameters, WorldShape const& world);

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::collective
