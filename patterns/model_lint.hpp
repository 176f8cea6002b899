// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether the sizes of a model fit the ranks that divide it and the units of the hardware.
#pragma once

#include "patterns/model_parameters.hpp"

#include <string>
#include <vector>

namespace dlmb {

/// does_not_fit: ranks get unequal parts, or none is possible; slow: matrix units or messages are not filled; padded:
/// frameworks add rows, which travel, too.
enum class ShapeFault : std::uint8_t { does_not_fit, slow, padded };
[[nodiscard]] std::string_view name_of(ShapeFault fault);

struct ShapeFinding {
    ShapeFault fault;
    std::string what;  // one line: sizes, why, and the nearest ones that fit
};

/// By the rules of "The Case for Co-Designing Model Architectures with Hardware" (arXiv 2401.14489):
/// hidden, heads, key-value heads, mlp and vocabulary divide by tp; layers by pp, experts by ep; the parts of matrices
/// and the dimension of a head are multiples of 64 values, and messages multiples of 128 B. What is not told is not
/// judged.
[[nodiscard]] std::vector<ShapeFinding> lint(ModelShape const& model, Parallelism const& parallel);

}  // namespace dlmb
