// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A machine as LogGOPS sees it (Alexandrov et al. 1995; Ino et al. 2001; Hoefler et al. 2010), with parameters of its
// own for each level of distance between two ranks and each range of sizes.
//
// All times are whole picoseconds. Times per byte are whole femtoseconds: a byte of a fast link takes less than 2 ps.
#pragma once

#include "common/base/units.hpp"
#include "common/tools/predict/machine_model.hpp"
#include "common/tools/predict/picoseconds.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace dlmb::predict {

using FemtosecondsPerByte = std::int64_t;

/// Bytes beyond the first take `each` fs per byte, rounded to the nearest ps.
[[nodiscard]] constexpr Picoseconds time_of_further_bytes(Bytes bytes, FemtosecondsPerByte each) {
    constexpr std::int64_t femtoseconds = 1000;
    return bytes <= 1 ? 0 : (static_cast<std::int64_t>(bytes - 1) * each + femtoseconds / 2) / femtoseconds;
}

/// Inside a node, or between nodes. Nodes have consecutive ranks.
enum class Level : std::uint8_t { node, system };
inline constexpr std::array<std::string_view, 2> level_names{"node", "system"};

struct LogGopsParameters {
    Picoseconds latency = 0;                    // L
    Picoseconds overhead = 0;                   // o: of the processor, for each end of a message
    Picoseconds gap = 0;                        // g: of the NIC, between two messages
    FemtosecondsPerByte gap_per_byte = 0;       // G
    FemtosecondsPerByte overhead_per_byte = 0;  // O
};

/// Parameters of messages of up to so many bytes.
struct SizeSegment {
    Bytes up_to = std::numeric_limits<Bytes>::max();
    LogGopsParameters parameters;
};

struct Machine {
    /// By Level; segments by size, the last one for all that is larger.
    std::array<std::vector<SizeSegment>, level_names.size()> levels;
    // Added between nodes for each octave (log2) of distance.
    Picoseconds octave_latency = 0;
    FemtosecondsPerByte octave_per_byte = 0;
    std::vector<double> octaves;  // index: nodes from sender to receiver, modulo all; empty: no cost of distance
    int ranks_per_node = 0;       // 0: each rank has a node of its own
    Bytes eager_limit = std::numeric_limits<Bytes>::max();  // S: a larger send ends when its receive does
    FemtosecondsPerByte reduce_per_byte = 0;                // gamma, per byte of the result
    FemtosecondsPerByte copy_per_byte = 0;
    Picoseconds call = 0;  // of the processor, when a collective or an exchange begins and when a Recv has its message

    [[nodiscard]] std::vector<SizeSegment>& level(Level level) { return levels[static_cast<std::size_t>(level)]; }
    [[nodiscard]] Level level_of(Rank from, Rank to) const;
    [[nodiscard]] LogGopsParameters parameters(Rank from, Rank to, Bytes bytes) const;
};

/// The same parameters for all distances and sizes.
[[nodiscard]] Machine uniform_machine(LogGopsParameters const& parameters);

/// A fitted model, with its best parameters or those of one of its replicates; docs: common/tools/predict/README.md.
/// The simulator has no factors of implementations, no temporary memory that is mapped anew and no links.
[[nodiscard]] Machine machine_of(MachineModel const& model, MachineParameters const& parameters, int ranks_per_node,
                                 int nodes);

}  // namespace dlmb::predict
