// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of sequence_parallel, read strictly and checked against the world: after this, nothing can be wrong.
#pragma once

#include "common/plan/world.hpp"
#include "patterns/pattern.hpp"
#include "patterns/sequence_parallel/sizes.hpp"

#include <cstdint>
#include <span>

namespace dlmb::sequence_parallel {

enum class Kind { ulysses, ring };
enum class Direction { forward, backward, both };

struct Params {
    Kind kind = Kind::ulysses;
    Tensor queries;  // and the output, and the gradients of both
    Tensor keys;     // and values; grouped-query attention has fewer heads here
    std::uint32_t layers = 1;
    int sp = 1;  // ranks that share one sequence
    Direction direction = Direction::both;
    Element element = Element::bf16;
    Element gradient_element = Element::fp32;  // ring: of dk and dv on their way
    Nanoseconds compute_ns = 0;                // ring: attention over one block
    Bytes memory_limit = 0;

    [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(sp); }
};

[[nodiscard]] std::span<ParameterInfo const> parameter_infos();

/// Throws UsageError naming the parameters and their values.
[[nodiscard]] Params read_params(Parameters const& parameters, WorldShape const& world);

}  // namespace dlmb::sequence_parallel
