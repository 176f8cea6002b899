// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How an Element lies in memory, what is computed with (itself, or float for the formats narrower than 32 bits), and
// how two of them are reduced. On host and device.
#pragma once

#include "common/formats/plan/plan.hpp"
#include "common/memory/small_float.hpp"

#include <cstdint>
#include <type_traits>

namespace dlmb {

template <class T>
struct PlainCodec {
    using Storage = T;
    using Value = T;
    static constexpr Value load(Storage stored) { return stored; }
    static constexpr Storage store(Value value) { return value; }
};

template <class Format, class Code>
struct SmallFloatCodec {
    using Storage = Code;
    using Value = float;
    static constexpr Value load(Storage stored) { return Format::decode(stored); }
    static constexpr Storage store(Value value) { return static_cast<Storage>(Format::encode(value)); }
};

/// Calls `use` with the codec of `element`.
template <class Use>
constexpr decltype(auto) with_codec(Element element, Use const& use) {
    switch (element) {
    case Element::int8:
        return use(PlainCodec<std::int8_t>{});
    case Element::int32:
        return use(PlainCodec<std::int32_t>{});
    case Element::int64:
        return use(PlainCodec<std::int64_t>{});
    case Element::fp8:
        return use(SmallFloatCodec<small_float::Fp8, std::uint8_t>{});
    case Element::fp16:
        return use(SmallFloatCodec<small_float::Fp16, std::uint16_t>{});
    case Element::bf16:
        return use(SmallFloatCodec<small_float::Bf16, std::uint16_t>{});
    case Element::fp32:
        return use(PlainCodec<float>{});
    case Element::fp64:
        return use(PlainCodec<double>{});
    case Element::byte:
        break;
    }
    return use(PlainCodec<std::uint8_t>{});
}

namespace combine {

/// Unsigned arithmetic of at least 32 bits: signed overflow, and the promotion of small types to int, would be
/// undefined.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;

struct Sum {
    template <class T>
    constexpr T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
        } else {
            return a + b;
        }
    }
};

struct Product {
    template <class T>
    constexpr T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
        } else {
            return a * b;
        }
    }
};

struct Least {
    template <class T>
    constexpr T operator()(T a, T b) const {
        return b < a ? b : a;
    }
};

struct Greatest {
    template <class T>
    constexpr T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};

}  // namespace combine
}  // namespace dlmb
