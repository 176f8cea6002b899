// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Makespans of the schedules when communication takes no time, as published. F, B, I, W: durations of one pass through
// one stage (forward, backward, its input part, its weight part); D ranks, N micro-batches, v chunks per rank.
#pragma once

#include "patterns/pipeline_p2p/layout.hpp"
#include "patterns/pipeline_p2p/timeline.hpp"

#include <optional>

namespace dlmb::pipeline_p2p {

/// Where a form is known to hold, else nothing:
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

/// The closed form, or a play of all ranks' orders where there is none.
[[nodiscard]] Nanoseconds ideal_makespan(Shape const& shape, Durations const& durations);

}  // namespace dlmb::pipeline_p2p
