// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How long the schedules take when communication takes no time: simulated from the orders of all ranks, and as
// published closed forms.
#pragma once

#include "common/base/units.hpp"
#include "patterns/pipeline_p2p/layout.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace dlmb::pipeline_p2p {

/// Of one pass through one stage, in any unit. `backward` is the whole pass, backward_input + backward_weight its
/// parts.
struct Durations {
    Nanoseconds forward = 1;
    Nanoseconds backward = 1;
    Nanoseconds backward_input = 1;
    Nanoseconds backward_weight = 1;

    [[nodiscard]] Nanoseconds of(Task const& task) const;
};

/// Simulates the computations of all ranks: each starts when the rank is free and its input is there.
class Timeline {
public:
    /// `tasks[r]` in the order of rank r. Throws Error when the orders wait for each other in a circle.
    Timeline(Shape const& shape, std::span<std::vector<Task> const> tasks, Durations const& durations);

    [[nodiscard]] Nanoseconds makespan() const { return makespan_; }
    /// When the k-th task of the rank begins.
    [[nodiscard]] Nanoseconds start(int rank, std::size_t k) const {
        return starts_[static_cast<std::size_t>(rank)][k];
    }
    /// When the output of the work was there.
    [[nodiscard]] Nanoseconds end(Work const& work) const { return ends_[place(work)]; }

private:
    static constexpr Nanoseconds unknown = -1;

    [[nodiscard]] std::size_t place(Work const& work) const;
    [[nodiscard]] Nanoseconds ready(Task const& task) const;
    void finish_task(Task const& task, Nanoseconds end);

    Shape shape_;
    Nanoseconds makespan_ = 0;
    std::vector<std::vector<Nanoseconds>> starts_;
    std::vector<Nanoseconds> ends_;
};

/// Published forms where they are known to hold, else nothing. F, B, I, W: durations of one pass through one stage
/// (forward, backward, its input part, its weight part); D ranks, N micro-batches, v chunks per rank:
///   gpipe, 1f1b   (N+D-1)(F+B)                            Narayanan et al., arXiv 2104.04473
///   interleaved   (N*v+D-1)(F+B), N a multiple of D       the same
///   chimera       2D*ceil(N/D) + D/f - 2 slots, F = B, N a multiple of D;
///                 D*F + (2D-2)*B, N = D, f = 1, F <= B    arXiv 2107.06925; arXiv 2211.14133
///   zb_h1         N(F+I+W) + (D-1)(F+I-W), N >= D, W <= F, W <= I   arXiv 2401.10241
///   zb_v          6N+D-1 slots, F = I = W, N >= 2D-1      arXiv 2405.15362
///   dualpipe      N(F+B) + (D/2-1)(F+2B-3W), F = I, W <= I  arXiv 2412.19437, the overlapped pair taking F + B
[[nodiscard]] std::optional<Nanoseconds> closed_form_makespan(Shape const& shape, Durations const& durations);

/// Computation of one rank, the same on all.
[[nodiscard]] Nanoseconds compute_per_rank(Shape const& shape, Durations const& durations);

/// The closed form, or a simulation of all ranks' orders where there is none.
[[nodiscard]] Nanoseconds ideal_makespan(Shape const& shape, Durations const& durations);

}  // namespace dlmb::pipeline_p2p
