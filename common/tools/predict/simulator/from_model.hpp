// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A fitted machine model as a machine of the simulator. The model prices rounds, LogGOPS messages:
//
//     o of a message       message_us, but at most half of latency_us, so that L + 2 o stays what a round costs
//     L between nodes      latency_us + hop_us - 2 o, and rendezvous_us more for messages beyond the eager limit,
//                          fetch_us for those beyond the inject limit
//     L inside a node      latency_us - 2 o, and rendezvous_us more
//     g                    message_us
//     G                    byte_us between nodes, 0 inside
//     O, of the sender     eager_byte_us up to the eager limit, and inside_byte_us more inside a node
//     gamma, copy          reduce_byte_us, copy_byte_us
//     call                 call_us, and turn_us for each further rank of a processor; L has handover_us for each,
//                          twice beyond the eager limit
//     S                    the eager limit
//     memory               memory_byte_us, where the buffers of a plan have cached_bytes
//
// Left out: hops beyond the first (hop_us), bytes by distance (far_byte_us), shared links (link_ratio), new memory
// (fresh_byte_us), and the factors of implementations.
#pragma once

#include "common/tools/predict/machine_model.hpp"
#include "common/tools/predict/simulator/machine.hpp"

namespace dlmb::predict {

/// With the parameters of the model, or of one of its replicates. `ranks_per_node` consecutive ranks share a node.
[[nodiscard]] Machine machine_of(MachineModel const& model, Parameters const& parameters, int ranks_per_node);

}  // namespace dlmb::predict
