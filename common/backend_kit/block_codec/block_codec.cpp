// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/block_codec.hpp"

#include "common/backend_kit/block_codec/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dlmb {
namespace {

codec_loop::Kernel const& kernel(Element element, Code code) {
    static codec_loop::Kernels const widest = codec_loop::kernels_at_hand().back();
    std::size_t const number = element == Element::bf16 ? 0 : element == Element::fp16 ? 1 : 2;
    return widest[static_cast<std::size_t>(code)][number];
}

/// Mantissa bits, and the exponent of the smallest normal number.
struct Precision {
    int mantissa;
    int smallest_exponent;
};

/// Half the distance of the numbers of a float format around `magnitude`.
double half_unit(Precision const& format, double magnitude) {
    int const exponent =
        magnitude > 0 ? std::max(std::ilogb(magnitude), format.smallest_exponent) : format.smallest_exponent;
    return std::ldexp(0.5, exponent - format.mantissa);
}

Precision precision_of(Element element) {
    switch (element) {
    case Element::bf16:
        return {7, -126};
    case Element::fp16:
        return {10, -14};
    default:
        return {23, -126};
    }
}

}  // namespace

void host_pack(PackedRow to, std::byte const* numbers, std::uint64_t count, Element element,
               BlockFormat const& format) {
    kernel(element, format.code).pack(to, numbers, count, format);
}

void host_unpack(std::byte* numbers, PackedRow from, std::uint64_t count, Element element, BlockFormat const& format) {
    kernel(element, format.code).unpack(numbers, from, count, format);
}

double half_step(Code code, double magnitude) {
    switch (code) {
    case Code::int4:
    case Code::int8:
        return 0.5;
    case Code::fp4:
        return half_unit({1, 0}, magnitude);
    case Code::fp8:
        return half_unit({3, -6}, magnitude);
    case Code::fp8_e5m2:
        break;
    }
    return half_unit({2, -14}, magnitude);
}

double least_half_step(Code code) {
    switch (code) {
    case Code::int4:
    case Code::int8:
        return 0;
    case Code::fp4:
        return 1.0 / 8;
    case Code::fp8:
        return 1.0 / 32;
    case Code::fp8_e5m2:
        break;
    }
    return 1.0 / 16;
}

double error_bound(double x, double scale, Element element, Code code) {
    double const magnitude = std::abs(x);
    double const coding = scale > 0 ? half_step(code, magnitude / scale) * scale : magnitude;
    return coding + half_unit(precision_of(element), magnitude + coding) + std::ldexp(magnitude, -22);
}

double scale_at(std::byte const* scale, ScaleType type) {
    if (type == ScaleType::e8m0) {
        return std::ldexp(1.0, std::to_integer<int>(*scale) - 127);
    }
    float value = 0;
    std::memcpy(&value, scale, sizeof value);
    return value;
}

}  // namespace dlmb
