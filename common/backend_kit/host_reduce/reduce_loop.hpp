// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The loop of host_reduce, which compilers turn into vector code: no branch in it, and no library. Always inlined: it
// becomes code for the processors that the function around it is compiled for. Needs -fopenmp-simd: for this
// folder only.
#pragma once

#include "common/backend_kit/element_codec.hpp"

#include <cstddef>
#include <cstring>

namespace dlmb::reduce_loop {

template <class Codec, class Combine>
[[gnu::always_inline]] inline void fold(std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes,
                                        Combine combine) {
    using Storage = typename Codec::Storage;
    Bytes const count = bytes / sizeof(Storage);
    // An element depends on its own operands only, also where `to` is one of them.
#pragma omp simd
    for (Bytes i = 0; i < count; ++i) {
        Storage a;
        Storage b;
        std::memcpy(&a, left + i * sizeof a, sizeof a);
        std::memcpy(&b, right + i * sizeof b, sizeof b);
        a = Codec::store(combine(Codec::load(a), Codec::load(b)));
        std::memcpy(to + i * sizeof a, &a, sizeof a);
    }
}

/// Calls use(combine) with what `reduction` does to two values.
template <class Use>
void with_combine(Reduction reduction, Use const& use) {
    switch (reduction) {
    case Reduction::sum:
        return use(combine::Sum{});
    case Reduction::prod:
        return use(combine::Product{});
    case Reduction::min:
        return use(combine::Least{});
    case Reduction::max:
        break;
    }
    return use(combine::Greatest{});
}

/// Calls fold(codec, combine) for the codec of `element` and the function of `reduction`.
template <class Fold>
void with_fold(Element element, Reduction reduction, Fold const& fold) {
    with_codec(element, [&](auto codec) { with_combine(reduction, [&](auto combine) { fold(codec, combine); }); });
}

}  // namespace dlmb::reduce_loop

namespace dlmb {

/// host_reduce by the widest vectors that the processor at hand has; the same bits by all of them. One file per
/// architecture defines it.
void wide_reduce(std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes, Element element,
                 Reduction reduction);

}  // namespace dlmb
