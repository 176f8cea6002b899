// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/reductions.hpp"

#include "common/backend_kit/host_reduce.hpp"
#include "tests/fakes/gpu/operations.hpp"

namespace dlmb::fake_gpu {
namespace {

std::optional<Element> element_of(ncclDataType_t type) {
    switch (type) {
    case ncclInt8:
        return Element::int8;
    case ncclUint8:
        return Element::byte;
    case ncclInt32:
        return Element::int32;
    case ncclInt64:
        return Element::int64;
    case ncclFloat8e4m3:
        return Element::fp8;
    case ncclFloat16:
        return Element::fp16;
    case ncclBfloat16:
        return Element::bf16;
    case ncclFloat32:
        return Element::fp32;
    case ncclFloat64:
        return Element::fp64;
    default:
        return std::nullopt;
    }
}

std::optional<Reduction> reduction_of(ncclRedOp_t reduction) {
    switch (reduction) {
    case ncclSum:
        return Reduction::sum;
    case ncclProd:
        return Reduction::prod;
    case ncclMin:
        return Reduction::min;
    case ncclMax:
        return Reduction::max;
    default:
        return std::nullopt;
    }
}

}  // namespace

std::optional<std::size_t> element_size(ncclDataType_t type) {
    switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
        return 1;
    case ncclFloat16:
    case ncclBfloat16:
        return 2;
    case ncclInt32:
    case ncclFloat32:
        return 4;
    case ncclInt64:
    case ncclFloat64:
        return 8;
    default:
        return std::nullopt;
    }
}

bool is_known(ncclRedOp_t reduction) {
    return reduction_of(reduction).has_value();
}

void reduce_elements(std::byte* into, std::byte const* operand, std::size_t bytes, ncclDataType_t type,
                     ncclRedOp_t reduction) {
    host_reduce(into, operand, bytes, element_of(type).value_or(Element::byte),
                reduction_of(reduction).value_or(Reduction::sum));
}

}  // namespace dlmb::fake_gpu
