// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan read as memory: which bytes are sent with which payload, which bytes must arrive with which, and which must
// stay untouched. Only places and identities; PlanPayload fills and checks them. Shared buffers are left out.
#pragma once

#include "common/formats/plan/plan.hpp"
#include "common/memory/payload.hpp"

#include <optional>
#include <vector>

namespace dlmb {

/// Says whether a region of numbers that travel packed holds them as numbers or packed.
struct PieceNumbers {
    bool packed = false;
    BlockFormat format;
    Element element = Element::bf16;
    std::uint64_t row_numbers = 0;

    [[nodiscard]] Bytes row_bytes() const {
        return packed ? format.row_bytes(row_numbers) : row_numbers * size_of(element);
    }
};

/// A region with one payload stream. World ranks; every_rank as `destination` where all members get the same or rows
/// go to several of them, and as both ends where the payload is a reduction's. `travel`: the step by which these bytes
/// travel, whose payload they are: that of the piece, but where that one packs or unpacks them.
struct Piece {
    BufferId buffer = 0;
    Bytes offset = 0;
    Bytes bytes = 0;
    StepId step = 0;
    Rank source = 0;
    Rank destination = 0;
    std::uint64_t first_element = 0;  // reductions: where in the full vector the region begins
    Bytes first_byte = 0;             // where in the step's stream the piece begins: a multiple of 8, or whole rows
    StepId travel = 0;
    bool packed_by_step = false;  // of what is sent: another step of the plan writes it
    std::optional<PieceNumbers> numbers = std::nullopt;

    [[nodiscard]] bool is_reduced() const { return source == every_rank; }
};

/// Untouched memory of a receive buffer, between pieces.
struct Gap {
    BufferId buffer = 0;
    Bytes offset = 0;
    Bytes bytes = 0;
    Piece const* before = nullptr;  // the neighbours, where there are any
    Piece const* behind = nullptr;
};

struct PayloadLayout {
    std::vector<Piece> sent;  // by buffer and offset, as the next
    std::vector<Piece> delivered;
    std::vector<BufferId> guarded;            // buffers that something is delivered to, or would be on another rank
    std::vector<Gap> gaps;                    // point into the vectors above
    std::vector<std::uint32_t> step_numbers;  // by StepId
};

/// Throws Error where a region would need two payloads: sent by two steps, or sent on from what another step delivers.
[[nodiscard]] PayloadLayout payload_layout(Plan const& plan);

/// The group of a step; nullptr for Compute.
[[nodiscard]] Group const* group_of(Plan const& plan, StepId step);

}  // namespace dlmb
