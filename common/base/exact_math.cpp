// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/exact_math.hpp"

#include "common/base/error.hpp"

#include <algorithm>
#include <bit>

namespace dlmb::exact {
namespace {

// ln 2 in two parts; the first has 16 trailing zero bits, so that a multiple of it by an exponent is exact.
constexpr double ln2_high = 0x1.62e42fefap-1;
constexpr double ln2_low = 0x1.cf79abc9e3b3ap-40;
constexpr double inverse_sqrt_2pi = 0.39894228040143267794;

constexpr std::uint64_t mantissa_mask = (std::uint64_t{1} << 52) - 1;
constexpr std::int64_t exponent_bias = 1023;

double power_of_two(std::int64_t exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + exponent_bias) << 52);
}

double normal_density(double x) {
    return inverse_sqrt_2pi * exp(-0.5 * x * x);
}

/// Probability between 0 and x >= 0: density times x + x^3/3 + x^5/(3*5) + ..., all terms positive.
double normal_mass(double x) {
    double term = x;
    double sum = x;
    for (double odd = 3; term > sum * 0x1p-60; odd += 2) {
        term = term * x * x / odd;
        sum += term;
    }
    return normal_density(x) * sum;
}

}  // namespace

double log(double x) {
    auto const bits = std::bit_cast<std::uint64_t>(x);
    auto exponent = static_cast<std::int64_t>(bits >> 52) - exponent_bias;
    auto mantissa = std::bit_cast<double>((bits & mantissa_mask) | (std::uint64_t{1023} << 52));
    if (mantissa > 1.4142135623730951) {
        mantissa = mantissa * 0.5;
        ++exponent;
    }
    // ln m = 2 atanh(f) with f = (m - 1) / (m + 1), |f| <= 0.1716: the eleventh term is below 2^-56.
    double const f = (mantissa - 1) / (mantissa + 1);
    double const square = f * f;
    double series = 0;
    for (int odd = 23; odd >= 3; odd -= 2) {
        series = (series + 1.0 / odd) * square;
    }
    auto const scale = static_cast<double>(exponent);
    return scale * ln2_high + (2 * f + (2 * f * series + scale * ln2_low));
}

double exp(double x) {
    x = std::clamp(x, -700.0, 700.0);
    double const in_twos = x * 1.4426950408889634;
    auto const exponent = static_cast<std::int64_t>(in_twos + (in_twos < 0 ? -0.5 : 0.5));
    auto const scale = static_cast<double>(exponent);
    double const rest = (x - scale * ln2_high) - scale * ln2_low;
    // Horner form of the Taylor series; |rest| <= ln(2) / 2, so the term after the fourteenth is below 2^-58.
    double sum = 1;
    for (int n = 14; n >= 1; --n) {
        sum = 1 + rest * sum / n;
    }
    return sum * power_of_two(exponent);
}

double pow(double x, double y) {
    return exp(y * log(x));
}

double normal_quantile(double p) {
    if (!(p >= 1e-12 && p <= 1 - 1e-12)) {
        throw Error("normal_quantile: probability outside 1e-12 .. 1 - 1e-12");
    }
    if (p == 0.5) {
        return 0;
    }
    if (p < 0.5) {
        return -normal_quantile(1 - p);
    }
    // Newton from 0: the distribution is concave above 0, so every step stays below the root and none overshoots.
    double const wanted = p - 0.5;
    double x = 0;
    for (int i = 0; i < 60; ++i) {
        double const step = (wanted - normal_mass(x)) / normal_density(x);
        x += step;
        if (step < x * 0x1p-50) {
            break;
        }
    }
    return x;
}

std::uint64_t round_half_even(double x) {
    auto const whole = static_cast<std::uint64_t>(x);
    double const fraction = x - static_cast<double>(whole);
    bool const up = fraction > 0.5 || (fraction == 0.5 && whole % 2 == 1);
    return whole + (up ? 1 : 0);
}

}  // namespace dlmb::exact
