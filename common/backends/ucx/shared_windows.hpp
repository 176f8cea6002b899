// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The windows and counters of all steps of a plan that are done in shared memory, here and on the other ranks
// of the node.
#pragma once

#include "common/backends/ucx/lowering.hpp"
#include "common/backends/ucx/shared_lane.hpp"
#include "common/backends/ucx/shared_memory.hpp"

#include <optional>
#include <string>

namespace dlmb::ucx {

/// Whether this copy is written past the caches: a large one into a window only where these are streamed.
[[nodiscard]] bool goes_past_caches(algorithms::SharedStep const& step, WindowCopies copies);

/// Whether the step has such.
[[nodiscard]] bool has_large_window_copies(SharedWay const& way);

class SharedWindows {
public:
    /// Collective: ranks tell each other where their windows lie. Keeps references to all arguments.
    SharedWindows(Transport const& transport, Plan const& plan, std::vector<StepWay> const& ways,
                  std::vector<LoweredStep> const& steps);

    /// What this rank found wrong in what its peers do.
    [[nodiscard]] std::optional<std::string> const& problem() const { return problem_; }
    /// Maps the windows of peers, to whom endpoints exist. Why that cannot be done; empty: it is done. This rank's
    /// view.
    [[nodiscard]] std::string map();
    /// Collective: the names of all that steps with such copies use on any rank, for the record.
    [[nodiscard]] std::string window_copies() const;
    /// The lane of a step with a way in shared memory.
    [[nodiscard]] SharedLane lane_of(StepId step) const;
    /// What must outlive the lanes.
    [[nodiscard]] SharedMappings mappings() && { return std::move(mappings_); }

private:
    /// Where one step's memory of one rank lies.
    struct Place {
        std::byte* counter = nullptr;
        std::byte* window = nullptr;  // from where this rank was told to begin
        Bytes stride = 0;             // from the window of an even iteration to that of an odd one
        std::uint64_t stages = 0;     // of an iteration
    };

    /// A peer's Place before its memory is mapped: offsets in that.
    struct Unmapped {
        StepId step = 0;
        std::size_t place = 0;
        Rank peer = 0;
        Bytes counter = 0;
        Bytes window = 0;
        Bytes stride = 0;
        std::uint64_t stages = 0;
    };

    void lay_out();
    [[nodiscard]] std::vector<Letter> write_letters() const;
    /// Finds the other side of every step.
    void match();
    [[nodiscard]] std::byte* address(StepId step, algorithms::SharedArea area, std::size_t window) const;

    Transport const& transport_;
    Plan const& plan_;
    std::vector<StepWay> const& ways_;
    std::vector<LoweredStep> const& steps_;
    std::vector<std::vector<Place>> places_;  // by StepId and place in the group
    SharedMappings mappings_;
    std::vector<Letter> letters_;  // from peers
    std::vector<Unmapped> unmapped_;
    std::optional<std::string> problem_;
};

/// Peers, by world rank, of all steps done in shared memory.
[[nodiscard]] std::vector<Rank> shared_peers(Plan const& plan, std::vector<StepWay> const& ways);

}  // namespace dlmb::ucx
