// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Turns the requests of an iteration into the steps of one rank. All ranks go through requests and chunks in one order,
// so that plans hold together also where each send waits for its receive. What one chunk of a request sends is one
// batch, or one put.
#pragma once

#include "common/formats/plan/plan.hpp"
#include "patterns/kv_transfer/params.hpp"

#include <cstdint>
#include <vector>

namespace dlmb::kv_transfer {

/// Layers of one prefill stage, for one decode stage, that leave together.
struct LayerChunk {
    std::uint64_t stage = 0;
    std::uint64_t to_stage = 0;
    std::uint64_t place = 0;  // among the chunks of the prefill stage
    UnitRange layers;
};

[[nodiscard]] std::vector<LayerChunk> chunks_of_stage(Params const& params, std::uint64_t stage);
[[nodiscard]] std::vector<LayerChunk> chunks_of(Params const& params);

/// The messages between a rank and one tensor-parallel rank of the other side.
struct PeerShare {
    std::uint64_t peer = 0;
    std::uint64_t units = 0;
};
[[nodiscard]] std::vector<PeerShare> peers_of(CacheSplit const& split, bool prefills, std::uint64_t tp);

/// A request, and the prefill instance that sends it.
struct TransferRequest {
    std::uint64_t instance = 0;
    int number = 0;  // in that instance
    Moved moved;
    Nanoseconds gap = 0;  // Arrivals::gap()
};

/// `requests`: of all prefill instances that send to one decode instance, so that all ranks share buffers alike.
/// `most_units`: CacheSplit::most_units(). Labels: first_layer.LAYER.REQUEST, layers.LAYER.REQUEST,
/// request.STAGE.REQUEST, compute.LAYER, arrival.REQUEST.
[[nodiscard]] Plan build_iteration(Params const& params, std::uint64_t most_units,
                                   std::vector<LayerChunk> const& chunks, Rank me,
                                   std::vector<TransferRequest> requests);

}  // namespace dlmb::kv_transfer
