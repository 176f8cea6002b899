// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/operation_ids.hpp"

#include <algorithm>

namespace dlmb::ucx {

std::optional<std::uint64_t> OperationIds::take(std::uint64_t count) {
    count = std::max<std::uint64_t>(count, 1);  // a plan without steps still holds a place of its own
    std::uint64_t first = 0;
    for (auto const& [begin, end] : taken_) {
        if (begin - first >= count) {
            break;
        }
        first = end;
    }
    if (count > limit_ || first > limit_ - count) {
        return std::nullopt;
    }
    taken_.emplace(first, first + count);
    return first;
}

}  // namespace dlmb::ucx
