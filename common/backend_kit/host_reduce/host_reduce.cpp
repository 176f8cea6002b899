// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// One fp8 result is looked up; the other elements are computed in loops of the widest vectors at hand.
#include "common/backend_kit/host_reduce.hpp"

#include "common/backend_kit/host_reduce/fp8_results.hpp"
#include "common/backend_kit/host_reduce/wide_reduce.hpp"

namespace dlmb {

void host_reduce(std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes, Element element,
                 Reduction reduction) {
    if (element == Element::fp8) {
        fp8_results(reduction).reduce(to, left, right, bytes);
    } else {
        wide_reduce(to, left, right, bytes, element, reduction);
    }
}

}  // namespace dlmb
