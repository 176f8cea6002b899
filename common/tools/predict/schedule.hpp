// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which messages an algorithm of a collective sends, for all ranks at once. The sizes are shares of the full vector, so
// that one schedule serves every size. What runs here is not the algorithm, but its shape: the backends' own algorithms
// (common/formats/plan/algorithms) are plans of one rank with addresses, too large to make for 8,192 ranks.
//
// An algorithm is known by its name: the table in catalogue.cpp.
#pragma once

#include "common/base/names/operations.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::predict {

/// A message from one rank to another in a round.
struct Message {
    int from = 0;
    int to = 0;
    double share = 0;  // of the full vector
    double count = 1;  // equal messages that this one stands for
};

/// Messages that are under way together; the round ends with the last of them.
struct Round {
    std::vector<Message> messages;
    double times = 1;        // so many such rounds follow each other
    double reduced = 0;      // share of the vector that the busiest rank reduces in one such round
    double copied = 0;       // the same for copies between buffers of one rank
    bool both_ways = false;  // pairs exchange: what goes from a to b has a counterpart from b to a
    double queued = 0;       // messages of one rank on the longest way, this one included; 0: those of the busiest rank
};

/// Extents of a torus whose nodes have one rank each, in row-major order, or the number of ranks alone.
using Extents = std::vector<int>;

struct ScheduleRow {
    OperationKind collective;
    std::string_view algorithm;
    double temporary;  // bytes of temporary memory over those of the vector, at the rank that needs the most
    std::vector<Round> (*rounds)(int ranks);
    std::vector<Round> (*on_torus)(Extents const& extents) = nullptr;
};
[[nodiscard]] std::span<ScheduleRow const> schedules();

/// Throws UsageError where the collective has no such algorithm, or not for so many ranks. Flat exchanges of more than
/// 64 distances (pairwise, linear alltoall) are made from 64 that are spread evenly and count for all. Root: rank 0.
/// In a broadcast a rank sends to all its children at once; in a reduction it takes one vector after another.
[[nodiscard]] std::vector<Round> schedule_of(OperationKind collective, std::string_view algorithm,
                                             Extents const& extents);

/// Bytes of temporary memory over those of the vector, at the rank that needs the most (Open MPI 4.1, MPICH 4).
[[nodiscard]] double temporary_share(OperationKind collective, std::string_view algorithm);

/// Set-up of an implementation over remote memory, in each call before it sends.
enum class SetUp : std::uint8_t {
    none,
    port,     // opens its ports
    partner,  // learns the temporary memory of each partner on each port
};

/// An algorithm as data sets name it.
struct NamedAlgorithm {
    std::string_view algorithm = "ring";
    int ports = 1;  // equal parts of the vector that are worked on side by side
    SetUp set_up = SetUp::none;
    double one_segment_bytes = 0;  // of a vector up to this size a pipelined reduction makes one segment
    bool of_open_mpi = false;      // or of Fujitsu MPI, which came from it
};

/// Open MPI 4.1 and Fujitsu MPI run the ring of an allreduce as recursive doubling where a rank has less than one
/// element (4 bytes) of its own, and a broadcast of one element by a split tree as a chain. A single segment is not
/// pipelined.
[[nodiscard]] std::string_view algorithm_that_runs(OperationKind collective, NamedAlgorithm named, double bytes,
                                                   int ranks);

/// "default-X", "X_ompi", "X_mpich", "X_over", "RING-VARIANT-UTOFU-SEGMENT-PORTS", or X itself. Nothing: the name does
/// not tell the messages, such as a library's own decision (default_ompi).
[[nodiscard]] std::optional<NamedAlgorithm> algorithm_of(OperationKind collective, std::string_view name);

/// The name under which a model knows an algorithm on a torus of this shape, with one rank per node: that of one which
/// sends the same messages. A dimension of two nodes leaves a Bine tree (De Sensi et al. 2025) no other partners than
/// recursive doubling, and over Fugaku's remote memory both are the same code (HLC-Lab/bine_trees_fugaku).
[[nodiscard]] std::string name_by_messages(OperationKind collective, std::string_view name,
                                           std::vector<int> const& torus);

/// The name in tables of times and in models: of an exchange alltoall, of a broadcast bcast, of sends sendrecv.
[[nodiscard]] std::string_view name_in_tables(OperationKind collective);
/// By that name, the operation's own, or that of dlmb_collective. Nothing for operations that have no schedule.
[[nodiscard]] std::optional<OperationKind> collective_named(std::string_view name);
/// Whether --message-size of dlmb_collective is that of one rank's part (patterns/collective/README.md).
[[nodiscard]] constexpr bool size_is_of_a_part(OperationKind collective) {
    return collective == OperationKind::exchange || (has_parts(collective) && !reduces(collective));
}

}  // namespace dlmb::predict
