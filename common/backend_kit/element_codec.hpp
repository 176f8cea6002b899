// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How an Element lies in memory and what is computed with: itself, or float for the formats narrower than 32 bits.
#pragma once

#include "common/memory/small_float.hpp"
#include "common/plan/plan.hpp"

#include <cstdint>

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

/// Calls `use` with the codec of `element`, on host or device.
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

}  // namespace dlmb
