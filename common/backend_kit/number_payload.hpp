// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers as payload: what is packed has to be finite, and its errors to mean something.
#pragma once

#include "common/formats/plan/plan.hpp"
#include "common/memory/payload.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace dlmb {

/// A stream of numbers by its key: of either sign, with magnitudes between 2^-6 and 2^2, as many in each power of two.
struct NumberPayload {
    PayloadKey key;
    Element element;  // bf16, fp16 or fp32
    /// `count` of them from number `first` on.
    [[nodiscard]] std::vector<std::byte> numbers(std::uint64_t first, std::uint64_t count) const;
};

/// The first of `unpacked` that is further from the number it was than error_bound() allows; `scales` are those of its
/// blocks.
[[nodiscard]] std::optional<std::uint64_t> first_beyond_bound(std::span<std::byte const> numbers,
                                                              std::span<std::byte const> unpacked,
                                                              std::span<std::byte const> scales, Element element,
                                                              BlockFormat const& format);

}  // namespace dlmb
