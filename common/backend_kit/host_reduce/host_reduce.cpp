// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// One fp8 result is looked up, which takes a fraction of the time of two conversions to float and one back; the other
// elements are computed in loops of the widest vectors at hand.
#include "common/backend_kit/host_reduce.hpp"

#include "common/backend_kit/host_reduce/reduce_loop.hpp"

#include <array>
#include <span>

namespace dlmb {
namespace {

using Fp8Codes = std::array<std::uint8_t, 256>;

/// The results of a reduction of two fp8 numbers by their codes, left and right: 64 KiB, which a cache holds.
template <class Combine>
std::array<Fp8Codes, 256> fp8_results(Combine combine) {
    Fp8Codes codes{};
    for (std::size_t code = 0; code < codes.size(); ++code) {
        codes.at(code) = static_cast<std::uint8_t>(code);
    }
    std::array<Fp8Codes, 256> results{};
    for (std::uint8_t const left : codes) {
        Fp8Codes same{};
        same.fill(left);
        reduce_loop::fold<SmallFloatCodec<small_float::Fp8, std::uint8_t>>(
            std::as_writable_bytes(std::span(results.at(left))).data(), std::as_bytes(std::span(same)).data(),
            std::as_bytes(std::span(codes)).data(), codes.size(), combine);
    }
    return results;
}

}  // namespace

void host_reduce(std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes, Element element,
                 Reduction reduction) {
    if (element != Element::fp8) {
        wide_reduce(to, left, right, bytes, element, reduction);
        return;
    }
    reduce_loop::with_combine(reduction, [&](auto combine) {
        static auto const results = fp8_results(combine);  // one table per type of `combine`
        std::uint8_t const* const table = results.front().data();
        for (Bytes i = 0; i < bytes; ++i) {
            to[i] =
                std::byte{table[std::to_integer<std::size_t>(left[i]) * 256 + std::to_integer<std::size_t>(right[i])]};
        }
    });
}

}  // namespace dlmb
