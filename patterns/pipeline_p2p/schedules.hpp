// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One function per schedule: the actions of one rank of the chain. Each file names the source of its order. What the
// actions become (messages, batches, who waits for whom) is assembly.hpp's business.
#pragma once

#include "patterns/pipeline_p2p/action.hpp"
#include "patterns/pipeline_p2p/layout.hpp"

#include <vector>

namespace dlmb::pipeline_p2p {

[[nodiscard]] std::vector<Action> gpipe(Shape const& shape, int rank);
[[nodiscard]] std::vector<Action> one_f_one_b(Shape const& shape, int rank);
[[nodiscard]] std::vector<Action> interleaved(Shape const& shape, int rank);
[[nodiscard]] std::vector<Action> chimera(Shape const& shape, int rank);
[[nodiscard]] std::vector<Action> zb_h1(Shape const& shape, int rank);
[[nodiscard]] std::vector<Action> zb_v(Shape const& shape, int rank);
[[nodiscard]] std::vector<Action> dualpipe(Shape const& shape, int rank);

/// The one that shape.schedule names.
[[nodiscard]] std::vector<Action> actions_of(Shape const& shape, int rank);

/// Its computations alone.
[[nodiscard]] std::vector<Task> tasks_of(Shape const& shape, int rank);

}  // namespace dlmb::pipeline_p2p
