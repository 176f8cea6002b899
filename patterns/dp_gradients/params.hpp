// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of dp_gradients, read strictly and checked against the world: after this, nothing can be wrong.
#pragma once

#include "common/plan/world.hpp"
#include "patterns/dp_gradients/models.hpp"
#include "patterns/pattern.hpp"

#include <cstdint>
#include <span>

namespace dlmb::dp_gradients {

enum class Scheme { ddp, megatron, zero1, zero2, zero3, fsdp };
enum class Form { allreduce, reduce_scatter };

struct Params {
    Scheme scheme = Scheme::ddp;
    Form form = Form::allreduce;  // not read by zero3 and fsdp, which always scatter
    Model model;
    int dp = 1;      // ranks of a group
    int stride = 1;  // between them
    Element element = Element::bf16;
    Element gradient_element = Element::bf16;
    Bytes bucket_bytes = 0;
    Bytes first_bucket_bytes = 0;
    std::uint64_t bucket_elements = 0;
    std::uint64_t gather_elements = 0;
    std::uint64_t persistence_elements = 0;
    std::uint64_t prefetch_elements = 0;
    bool reshard = true;
    int microbatches = 1;
    int in_flight = 1;
    bool in_place = false;
    Bytes memory_limit = 0;

    [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(dp); }
};

[[nodiscard]] std::span<ParameterInfo const> parameter_infos();

/// Throws UsageError naming the parameters and their values.
[[nodiscard]] Params read_params(Parameters const& parameters, WorldShape const& world);

}  // namespace dlmb::dp_gradients
