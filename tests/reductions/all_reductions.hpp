// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every element type and reduction, and a reduction of payload done on the host: what tests of reductions share.
#pragma once

#include "common/backend_kit/host_reduce.hpp"
#include "common/backend_kit/reduction_payload.hpp"

#include <vector>

namespace dlmb {

inline constexpr Element all_elements[] = {Element::byte, Element::int8, Element::int32, Element::int64, Element::fp8,
                                           Element::fp16, Element::bf16, Element::fp32,  Element::fp64};
inline constexpr Reduction all_reductions[] = {Reduction::sum, Reduction::prod, Reduction::min, Reduction::max};

/// By host_reduce, from what `members` ranks contribute to `count` elements from element `first` on.
inline std::vector<std::byte> reduced_on_host(ReductionPayload const& payload, Reduction reduction, PayloadKey key,
                                              int members, std::uint64_t first, Bytes count) {
    std::vector<std::byte> result(count * size_of(payload.element()));
    payload.input(key, 0, first, result);
    std::vector<std::byte> operand(result.size());
    for (int member = 1; member < members; ++member) {
        payload.input(key, member, first, operand);
        host_reduce(result.data(), operand.data(), result.size(), payload.element(), reduction);
    }
    return result;
}

}  // namespace dlmb
