// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Any processor of the architecture that the compiler makes code for.
#include "common/backend_kit/host_reduce/reduce_loop.hpp"

namespace dlmb {

void wide_reduce(std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes, Element element,
                 Reduction reduction) {
    reduce_loop::with_fold(element, reduction, [&](auto codec, auto combine) {
        reduce_loop::fold<decltype(codec)>(to, left, right, bytes, combine);
    });
}

}  // namespace dlmb
