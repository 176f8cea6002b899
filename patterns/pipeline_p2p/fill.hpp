// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Extra work in the bubbles of a schedule, as PipeFisher (Osawa, Li, Hoefler, arXiv 2211.14133) puts the work of a
// second-order optimizer there. Where it goes is decided on the timetable without communication: a gap takes the first
// waiting item that fits, its duration lengthened by a reserve. What fits nowhere follows the last pass, and moves the
// end.
#pragma once

#include "common/formats/plan/plan.hpp"
#include "patterns/pipeline_p2p/makespan.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace dlmb::pipeline_p2p {

/// When an item may begin: with the iteration, or one item after each forward or (whole) backward pass of its rank.
enum class Release : std::uint8_t { start, forward, backward };

struct FillItem {
    Release release = Release::start;
    OperationKind operation = OperationKind::compute;
    Bytes bytes = 0;           // of the whole vector; over the data-parallel copies of a stage
    Nanoseconds duration = 0;  // what it is taken to need of its rank
    int count = 1;             // in each release
    int phase = 0;             // begins when all items of earlier phases are placed
    bool operator==(FillItem const&) const = default;
};

/// "[forward.|backward.]OPERATION[:BYTES]@MICROSECONDS[xCOUNT]", joined with + (in any order) and / (when all before it
/// is done), such as "forward.compute@50+backward.compute@50/allreduce:4M@300/compute@800". OPERATION: compute without
/// bytes; allreduce, reduce_scatter, allgather with. Throws UsageError.
[[nodiscard]] std::vector<FillItem> parse_fill(std::string_view text);

struct PlacedFill {
    std::size_t before_task = 0;  // of its rank; the number of tasks: after the last one
    std::size_t item = 0;
    bool operator==(PlacedFill const&) const = default;
};

/// The fill of one rank of the chain.
struct RankFill {
    std::vector<PlacedFill> placed;  // in the order in which they run
    Nanoseconds work = 0;            // of all items
    Nanoseconds inside = 0;          // the part of it before the makespan without fill
    Nanoseconds end = 0;             // of the rank: passes and fill
};

struct Filling {
    Nanoseconds makespan = 0;         // without fill
    Nanoseconds filled_makespan = 0;  // with it
    Nanoseconds bubble = 0;           // idle time of all ranks together, without fill
    Nanoseconds work = 0;             // of all ranks together
    Nanoseconds inside = 0;           // of that, in bubbles
    Bytes bytes = 0;                  // of the vectors of one rank, most of any
    std::vector<RankFill> ranks;      // of the chain

    /// Share of the bubbles that fill takes.
    [[nodiscard]] double utilisation() const {
        return bubble > 0 ? static_cast<double>(inside) / static_cast<double>(bubble) : 0;
    }
};

/// `reserve`: an item fits where (1 + reserve) times its duration is free; PipeFisher's is 0.05.
[[nodiscard]] Filling fill_bubbles(ScheduleShape const& shape, Durations const& durations,
                                   std::vector<FillItem> const& items, double reserve);

}  // namespace dlmb::pipeline_p2p
