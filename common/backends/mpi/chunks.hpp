// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Cuts a step into native calls, so that one can be copied between host and device while another is communicated. Pure
// functions: nothing here touches memory or a library.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <vector>

namespace dlmb::mpi {

struct BufferRange {
    BufferId buffer = 0;
    Bytes offset = 0;
    Bytes bytes = 0;
    bool operator==(BufferRange const&) const = default;
};

/// One native call of a staged step. Ranges that touch each other are joined; none is empty.
struct Chunk {
    Operation call;
    std::vector<BufferRange> reads;   // copied to the host before
    std::vector<BufferRange> writes;  // copied to the device afterwards
};

/// How a step is cut.
struct Cutting {
    Bytes chunk_bytes = 0;     // of one block, message or reduction; at least 1
    std::uint64_t rounds = 1;  // of an exchange: the same on all members of its group
    int me = 0;                // rank in the step's group
    int ranks = 1;             // of the step's group
};

/// Rounds that this rank's blocks need. The self block travels on the device and does not count.
[[nodiscard]] std::uint64_t rounds_of(Exchange const& exchange, Bytes chunk_bytes, int me);

/// Exchange: each round moves the next `chunk_bytes` of every block but the self block. Send, Recv and collectives
/// without parts: pieces of `chunk_bytes`, of collectives whole elements. The others: one call, because the parts of a
/// call lie next to each other. At least one chunk, also for no bytes.
[[nodiscard]] std::vector<Chunk> chunks_of(Operation const& operation, Cutting const& cut);

/// The exchange as one call, self block included.
[[nodiscard]] Chunk whole(Exchange const& exchange);

}  // namespace dlmb::mpi
