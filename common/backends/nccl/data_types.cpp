// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/data_types.hpp"

namespace dlmb::nccl {

ncclDataType_t type_of(Element element) {
    switch (element) {
    case Element::byte:
        return ncclUint8;
    case Element::int32:
        return ncclInt32;
    case Element::int64:
        return ncclInt64;
    case Element::fp8:
        return fp8_type().value();
    case Element::fp16:
        return ncclFloat16;
    case Element::bf16:
        return ncclBfloat16;
    case Element::fp32:
        return ncclFloat32;
    case Element::fp64:
        break;
    }
    return ncclFloat64;
}

ncclRedOp_t operation_of(Reduction reduction) {
    switch (reduction) {
    case Reduction::prod:
        return ncclProd;
    case Reduction::min:
        return ncclMin;
    case Reduction::max:
        return ncclMax;
    case Reduction::sum:
        break;
    }
    return ncclSum;
}

}  // namespace dlmb::nccl
