// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Says what wrong bytes are instead, by trying the payloads that the usual mistakes would bring. Cold: only after a
// mismatch.
#pragma once

#include "common/backend_kit/payload_layout.hpp"
#include "common/backend_kit/reduction_payload.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace dlmb {

/// Bytes that are enough to recognise a payload, from the first wrong one on. Fewer than three recognise nothing.
inline constexpr Bytes recognised_bytes = 16;

/// `found` lies at `offset` of `piece`. Empty when nothing fits.
[[nodiscard]] std::string recognise(Plan const& plan, PayloadLayout const& layout, Piece const& piece, Bytes offset,
                                    std::span<std::byte const> found, std::uint32_t iteration);

/// The same for a reduction's result; `found` holds whole elements from element `first` of the vector on, at `offset`
/// of the piece.
[[nodiscard]] std::string recognise_reduction(Plan const& plan, PayloadLayout const& layout, Piece const& piece,
                                              Bytes offset, std::span<std::byte const> found, std::uint32_t iteration);

/// The numbers of a reduction step.
[[nodiscard]] ReductionPayload reduction_payload(Plan const& plan, StepId step);

}  // namespace dlmb
