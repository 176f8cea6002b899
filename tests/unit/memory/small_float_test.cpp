// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/small_float.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dlmb::small_float {
namespace {

TEST(SmallFloat, Fp16HasTheCodesOfIeee754) {
    EXPECT_EQ(Fp16::encode(1.0F), 0x3C00U);
    EXPECT_EQ(Fp16::encode(-2.0F), 0xC000U);
    EXPECT_EQ(Fp16::encode(65504.0F), 0x7BFFU);               // largest finite
    EXPECT_EQ(Fp16::encode(65519.0F), 0x7BFFU);               // rounds down to it
    EXPECT_EQ(Fp16::encode(65520.0F), 0x7C00U);               // tie to even: infinity
    EXPECT_EQ(Fp16::encode(std::ldexp(1.0F, -24)), 0x0001U);  // smallest subnormal
    EXPECT_EQ(Fp16::encode(std::ldexp(1.0F, -25)), 0x0000U);  // half of it: tie to even
    EXPECT_EQ(Fp16::encode(std::ldexp(1.5F, -25)), 0x0001U);
    EXPECT_EQ(Fp16::encode(std::ldexp(1.0F, -14)), 0x0400U);  // smallest normal
    EXPECT_EQ(Fp16::encode(2049.0F), 0x6800U);                // between 2048 and 2050: tie to even
    EXPECT_EQ(Fp16::encode(INFINITY), 0x7C00U);
    EXPECT_TRUE(std::isnan(Fp16::decode(Fp16::encode(NAN))));
    EXPECT_TRUE(std::isinf(Fp16::decode(0xFC00U)));
}

TEST(SmallFloat, Fp8HasTheCodesOfOcpE4M3AndSaturates) {
    EXPECT_EQ(Fp8::encode(1.0F), 0x38U);
    EXPECT_EQ(Fp8::encode(-1.0F), 0xB8U);
    EXPECT_EQ(Fp8::encode(448.0F), 0x7EU);  // largest finite
    EXPECT_EQ(Fp8::encode(1e9F), 0x7EU);    // no infinity
    EXPECT_EQ(Fp8::encode(-INFINITY), 0xFEU);
    EXPECT_EQ(Fp8::encode(std::ldexp(1.0F, -9)), 0x01U);  // smallest subnormal
    EXPECT_EQ(Fp8::encode(std::ldexp(1.0F, -6)), 0x08U);  // smallest normal
    EXPECT_EQ(Fp8::encode(17.0F), 0x58U);                 // between 16 and 18: tie to even
    EXPECT_EQ(Fp8::decode(0x7EU), 448.0F);
    EXPECT_TRUE(std::isnan(Fp8::decode(0x7FU)));
    EXPECT_TRUE(std::isnan(Fp8::decode(Fp8::encode(NAN))));
}

TEST(SmallFloat, Bf16IsTheUpperHalfOfAFloatRoundedToEven) {
    EXPECT_EQ(Bf16::encode(1.0F), 0x3F80U);
    EXPECT_EQ(Bf16::encode(257.0F), 0x4380U);  // between 256 and 258: tie to even
    EXPECT_EQ(Bf16::encode(259.0F), 0x4382U);  // between 258 and 260: tie to even
    EXPECT_EQ(Bf16::encode(INFINITY), 0x7F80U);
    EXPECT_TRUE(std::isnan(Bf16::decode(Bf16::encode(NAN))));
}

template <class Format>
void every_code_survives(std::uint32_t codes) {
    for (std::uint32_t code = 0; code < codes; ++code) {
        float const value = Format::decode(code);
        if (!std::isnan(value)) {
            ASSERT_EQ(Format::encode(value), code) << value;
        }
    }
}

TEST(SmallFloat, EveryCodeSurvivesTheWayToFloatAndBack) {
    every_code_survives<Fp8>(1U << 8);
    every_code_survives<Fp16>(1U << 16);
    every_code_survives<Bf16>(1U << 16);
}

}  // namespace
}  // namespace dlmb::small_float
