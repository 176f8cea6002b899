// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/host_reduce/fp8_results.hpp"

#include "common/backend_kit/host_reduce/wide_reduce.hpp"

#include <span>

namespace dlmb {

Fp8Results::Fp8Results(Reduction reduction) {
    std::array<std::uint8_t, 256> codes{};
    for (std::size_t code = 0; code < codes.size(); ++code) {
        codes.at(code) = static_cast<std::uint8_t>(code);
    }
    for (std::uint8_t const left : codes) {
        std::array<std::uint8_t, 256> same{};
        same.fill(left);
        wide_reduce(std::as_writable_bytes(std::span(by_codes_.at(left))).data(), std::as_bytes(std::span(same)).data(),
                    std::as_bytes(std::span(codes)).data(), codes.size(), Element::fp8, reduction);
    }
}

void Fp8Results::reduce(std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes) const {
    std::uint8_t const* const table = by_codes_.front().data();
    for (Bytes i = 0; i < bytes; ++i) {
        to[i] = std::byte{table[std::to_integer<std::size_t>(left[i]) * 256 + std::to_integer<std::size_t>(right[i])]};
    }
}

Fp8Results const& fp8_results(Reduction reduction) {
    switch (reduction) {
    case Reduction::sum: {
        static Fp8Results const sums(Reduction::sum);
        return sums;
    }
    case Reduction::prod: {
        static Fp8Results const products(Reduction::prod);
        return products;
    }
    case Reduction::min: {
        static Fp8Results const least(Reduction::min);
        return least;
    }
    case Reduction::max:
        break;
    }
    static Fp8Results const greatest(Reduction::max);
    return greatest;
}

}  // namespace dlmb
