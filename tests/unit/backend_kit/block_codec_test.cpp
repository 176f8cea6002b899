// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Magicube (arXiv 2209.06979): packed formats move ceil(n * bits / 8) bytes and their scales, odd n included, and no
// number is further off than half a step of its scale.
#include "common/backend_kit/block_codec.hpp"
#include "common/backend_kit/block_codec/kernels.hpp"
#include "common/backend_kit/element_codec.hpp"
#include "common/base/philox.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace dlmb::block_codec_test {
namespace {

constexpr Code every_code[] = {Code::int4, Code::int8, Code::fp4, Code::fp8, Code::fp8_e5m2};
constexpr Element every_element[] = {Element::bf16, Element::fp16, Element::fp32};

std::vector<BlockFormat> every_format() {
    std::vector<BlockFormat> formats;
    for (Code const code : every_code) {
        for (std::uint32_t const block : {32U, 128U}) {
            formats.push_back({code, block, ScaleType::fp32});
            formats.push_back({code, block, ScaleType::e8m0});
        }
    }
    return formats;
}

/// The magnitudes of a code in order, from their definitions.
std::vector<double> magnitudes(Code code) {
    switch (code) {
    case Code::int4:
        return {0, 1, 2, 3, 4, 5, 6, 7};
    case Code::fp4:  // OCP MX 1.0, table 5
        return {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    default:
        break;
    }
    std::vector<double> list;
    if (code == Code::int8) {
        for (int number = 0; number <= 127; ++number) {
            list.push_back(number);
        }
        return list;
    }
    int const mantissa = code == Code::fp8 ? 3 : 2;  // OCP OFP8 1.0, table 1
    int const bias = code == Code::fp8 ? 7 : 15;
    double const largest = code == Code::fp8 ? 448 : 57344;
    for (int bits = 0; list.empty() || list.back() < largest; ++bits) {
        int const exponent = bits >> mantissa;
        double const fraction = std::ldexp(bits & ((1 << mantissa) - 1), -mantissa);
        list.push_back(exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
    }
    return list;
}

/// The nearest, of two equally near ones that with an even place.
std::size_t nearest(std::vector<double> const& list, double magnitude) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < list.size(); ++i) {
        double const now = std::abs(list[i] - magnitude);
        double const before = std::abs(list[best] - magnitude);
        if (now < before || (now == before && i % 2 == 0)) {
            best = i;
        }
    }
    return best;
}

struct Row {
    std::vector<std::byte> numbers;
    std::vector<double> values;
};

/// Of either sign, with magnitudes over many powers of two; every third block of 32 small, and one of zeros.
Row some_row(Element element, std::uint64_t count, std::uint64_t seed) {
    Row row{std::vector<std::byte>(count * size_of(element)), {}};
    with_codec(element, [&](auto codec) {
        using Codec = decltype(codec);
        for (std::uint64_t i = 0; i < count; ++i) {
            auto const words = philox({static_cast<std::uint32_t>(i), 0, 0, 0}, seed);
            auto const exponent = static_cast<int>(words[0] % 9) - 6 - (i / 32 % 3 == 1 ? 7 : 0);
            double const magnitude = i / 32 == 3 ? 0 : std::ldexp(1 + words[1] * 0x1p-32, exponent);
            auto const stored =
                Codec::store(static_cast<typename Codec::Value>((words[2] & 1U) != 0 ? -magnitude : magnitude));
            std::memcpy(row.numbers.data() + i * sizeof stored, &stored, sizeof stored);
            row.values.push_back(static_cast<double>(Codec::load(stored)));
        }
    });
    return row;
}

std::vector<double> values_of(std::vector<std::byte> const& numbers, Element element) {
    std::vector<double> values;
    with_codec(element, [&](auto codec) {
        using Codec = decltype(codec);
        for (std::size_t at = 0; at < numbers.size(); at += size_of(element)) {
            typename Codec::Storage stored;
            std::memcpy(&stored, numbers.data() + at, sizeof stored);
            values.push_back(static_cast<double>(Codec::load(stored)));
        }
    });
    return values;
}

std::vector<std::byte> packed(Row const& row, Element element, BlockFormat const& format) {
    std::uint64_t const count = row.values.size();
    std::vector<std::byte> bytes(format.row_bytes(count));
    host_pack(PackedRow::at(bytes.data(), format, count), row.numbers.data(), count, element, format);
    return bytes;
}

/// The numbers that come back.
std::vector<double> unpacked(std::vector<std::byte>& packed_row, Element element, BlockFormat const& format,
                             std::uint64_t count) {
    std::vector<std::byte> back(count * size_of(element));
    host_unpack(back.data(), PackedRow::at(packed_row.data(), format, count), count, element, format);
    return values_of(back, element);
}

double scale_of(std::vector<std::byte> const& packed_row, BlockFormat const& format, std::uint64_t count,
                std::uint64_t index) {
    return scale_at(packed_row.data() + format.code_bytes(count) + index / format.block * format.scale_bytes(),
                    format.scale);
}

std::uint32_t code_at(std::vector<std::byte> const& row, BlockFormat const& format, std::uint64_t index) {
    if (format.code_bytes(2) == 2) {
        return std::to_integer<std::uint32_t>(row[index]);
    }
    return (std::to_integer<std::uint32_t>(row[index / 2]) >> (index % 2 * 4)) & 0xFU;
}

constexpr std::uint64_t counts[] = {1,   2,   31,   32,   33,   127, 128,
                                    129, 255, 1023, 1024, 1025, 3073};  // beyond what is packed at once

// Magicube: ceil(n * bits / 8) and a scale per started block, odd n included.
TEST(BlockFormat, ARowHasItsCodesAndAScalePerStartedBlock) {
    for (std::uint64_t n = 1; n < 300; ++n) {
        for (BlockFormat const& format : every_format()) {
            Bytes const bits = format.code == Code::int4 || format.code == Code::fp4 ? 4 : 8;
            Bytes const scales = (n + format.block - 1) / format.block * (format.scale == ScaleType::fp32 ? 4 : 1);
            EXPECT_EQ(format.row_bytes(n), (n * bits + 7) / 8 + scales) << to_string(format) << " of " << n;
        }
    }
    // DeepEP's low-latency row at h 7168: fp8 and an fp32 scale per 128 numbers, 7168 + 4 * 56.
    EXPECT_EQ((BlockFormat{Code::fp8, 128, ScaleType::fp32}.row_bytes(7168)), 7392U);
}

TEST(BlockFormat, NamesAreReadAndWrittenAlike) {
    for (BlockFormat const& format : every_format()) {
        EXPECT_EQ(block_format_named(to_string(format)), format);
    }
    EXPECT_EQ(to_string(*block_format_named("mxfp4")), "fp4:32:e8m0");
    EXPECT_EQ(to_string(*block_format_named("mxfp8")), "fp8:32:e8m0");
    EXPECT_EQ(to_string(*block_format_named("mxfp8_e5m2")), "fp8_e5m2:32:e8m0");
    EXPECT_EQ(to_string(*block_format_named("mxint8")), "int8:32:e8m0");
    for (char const* const wrong :
         {"", "int4", "int4:32", "int4:32:", "int4::fp32", "int4:16:fp32", "int4:48:fp32", "int4:2048:fp32",
          "int4:032:fp32", "int3:32:fp32", "int4:32:fp16", "int4:32:fp32:", "int4:-32:fp32", "INT4:32:fp32", "mxfp6"}) {
        EXPECT_EQ(block_format_named(wrong), std::nullopt) << wrong;
    }
}

// The arithmetic of the header, one number at a time and from the definitions of the codes.
TEST(BlockCodec, CodesAreTheNearestOnesToTheScaledNumbers) {
    for (Element const element : every_element) {
        for (std::uint64_t const count : counts) {
            Row const row = some_row(element, count, 7);
            for (BlockFormat const& format : every_format()) {
                std::vector<std::byte> const bytes = packed(row, element, format);
                std::vector<double> const list = magnitudes(format.code);
                for (std::uint64_t first = 0; first < count; first += format.block) {
                    std::uint64_t const end = std::min(count, first + format.block);
                    double amax = 0;
                    for (std::uint64_t i = first; i < end; ++i) {
                        amax = std::max(amax, std::abs(row.values[i]));
                    }
                    float scale = static_cast<float>(amax) / static_cast<float>(list.back());
                    if (format.scale == ScaleType::e8m0 && scale > 0) {
                        int exponent = 0;
                        scale = std::frexp(scale, &exponent) == 0.5F ? scale : std::ldexp(1.0F, exponent);
                    }
                    ASSERT_EQ(amax == 0 ? 0.0 : scale_of(bytes, format, count, first), scale) << to_string(format);
                    for (std::uint64_t i = first; i < end; ++i) {
                        float const scaled =
                            scale == 0 ? 0 : static_cast<float>(std::abs(row.values[i])) * (1.0F / scale);
                        auto expected = static_cast<std::uint32_t>(nearest(list, scaled));
                        bool const negative = std::signbit(row.values[i]);
                        std::uint32_t const width = format.code_bytes(2) == 1 ? 4 : 8;
                        if (format.code == Code::int4 || format.code == Code::int8) {
                            expected = (negative ? 0U - expected : expected) & ((1U << width) - 1U);
                        } else {
                            expected |= negative ? 1U << (width - 1U) : 0;
                        }
                        ASSERT_EQ(code_at(bytes, format, i), expected)
                            << to_string(format) << " of " << count << ", number " << i << ": " << row.values[i];
                    }
                }
            }
        }
    }
}

TEST(BlockCodec, NoNumberIsFurtherOffThanTheBound) {
    for (Element const element : every_element) {
        for (std::uint64_t const count : counts) {
            Row const row = some_row(element, count, 11);
            for (BlockFormat const& format : every_format()) {
                std::vector<std::byte> bytes = packed(row, element, format);
                std::vector<double> const values = unpacked(bytes, element, format, count);
                for (std::uint64_t i = 0; i < count; ++i) {
                    double const scale = scale_of(bytes, format, count, i);
                    double const error = std::abs(values[i] - row.values[i]);
                    ASSERT_LE(error, error_bound(row.values[i], scale, element, format.code))
                        << to_string(format) << " of " << count << ", number " << i << ": " << row.values[i];
                    if (element == Element::fp32 && format.code_bytes(2) == 1 && format.code == Code::int4) {
                        ASSERT_LE(error, scale / 2 * (1 + 0x1p-18));  // the bound of Magicube
                    }
                }
            }
        }
    }
}

TEST(BlockCodec, HalfAStepIsAtLeastItsShareOfTheMagnitude) {
    for (Code const code : every_code) {
        double least = 1;
        for (double magnitude = 0x1p-20; magnitude < 448; magnitude *= 1.03125) {
            least = std::min(least, half_step(code, magnitude) / magnitude);
            EXPECT_GE(half_step(code, magnitude), half_step(code, 0));
        }
        EXPECT_GE(least, least_half_step(code)) << name_of(code);
    }
}

// A bound that nothing comes near to would prove little.
TEST(BlockCodec, TheBoundIsReached) {
    for (Code const code : every_code) {
        BlockFormat const format{code, 32, ScaleType::fp32};
        Row const row = some_row(Element::fp32, 1U << 14U, 3);
        std::vector<std::byte> bytes = packed(row, Element::fp32, format);
        std::vector<double> const values = unpacked(bytes, Element::fp32, format, row.values.size());
        double most = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (double const scale = scale_of(bytes, format, values.size(), i); scale > 0) {
                most = std::max(most, std::abs(values[i] - row.values[i]) /
                                          error_bound(row.values[i], scale, Element::fp32, code));
            }
        }
        EXPECT_GT(most, 0.95) << name_of(code);
        EXPECT_LE(most, 1) << name_of(code);
    }
}

TEST(BlockCodec, UnpackingGivesTheNumberOfEveryCode) {
    for (Code const code : every_code) {
        BlockFormat const format{code, 32, ScaleType::e8m0};
        std::vector<double> const list = magnitudes(code);
        for (std::size_t place = 0; place < list.size(); ++place) {
            std::vector<std::byte> row(format.row_bytes(1));
            row.front() = static_cast<std::byte>(place);
            row.back() = std::byte{128};  // 2
            float value = -1;
            host_unpack(reinterpret_cast<std::byte*>(&value), PackedRow::at(row.data(), format, 1), 1, Element::fp32,
                        format);
            EXPECT_EQ(value, 2 * list[place]) << name_of(code) << " " << place;
        }
    }
}

TEST(BlockCodec, ZerosArePackedAsZerosAndComeBack) {
    for (BlockFormat const& format : every_format()) {
        std::uint64_t const count = 129;
        std::vector<std::byte> const zeros(count * 2);
        std::vector<std::byte> row(format.row_bytes(count), std::byte{0xFF});
        host_pack(PackedRow::at(row.data(), format, count), zeros.data(), count, Element::bf16, format);
        EXPECT_EQ(row, std::vector<std::byte>(row.size())) << to_string(format);
        std::vector<std::byte> back(count * 2, std::byte{0xFF});
        host_unpack(back.data(), PackedRow::at(row.data(), format, count), count, Element::bf16, format);
        EXPECT_EQ(back, zeros) << to_string(format);
    }
}

TEST(BlockCodec, NothingAroundARowIsTouched) {
    constexpr std::byte guard{0xA5};
    for (std::uint64_t const count : counts) {
        Row const row = some_row(Element::bf16, count, 5);
        for (BlockFormat const& format : every_format()) {
            Bytes const bytes = format.row_bytes(count);
            std::vector<std::byte> memory(bytes + 129, guard);  // an odd address
            std::byte* const start = memory.data() + 65;
            host_pack(PackedRow::at(start, format, count), row.numbers.data(), count, Element::bf16, format);
            EXPECT_EQ(std::vector<std::byte>(start, start + bytes), packed(row, Element::bf16, format));
            std::vector<std::byte> back(row.numbers.size() + 129, guard);
            host_unpack(back.data() + 65, PackedRow::at(start, format, count), count, Element::bf16, format);
            for (std::size_t i = 0; i < 64; ++i) {
                ASSERT_EQ(memory[i], guard);
                ASSERT_EQ(memory[memory.size() - 1 - i], guard) << to_string(format) << " of " << count;
                ASSERT_EQ(back[i], guard);
                ASSERT_EQ(back[back.size() - 1 - i], guard) << to_string(format) << " of " << count;
            }
        }
    }
}

TEST(BlockCodec, APartOfARowIsPackedAsInTheWholeRow) {
    std::uint64_t const count = 1025;
    Row const row = some_row(Element::fp16, count, 9);
    for (BlockFormat const& format : every_format()) {
        std::vector<std::byte> bytes(format.row_bytes(count));
        PackedRow const whole = PackedRow::at(bytes.data(), format, count);
        for (std::uint64_t first = 0; first < count; first += 256) {
            host_pack(whole.from(first, format), row.numbers.data() + first * 2,
                      std::min<std::uint64_t>(256, count - first), Element::fp16, format);
        }
        EXPECT_EQ(bytes, packed(row, Element::fp16, format)) << to_string(format);
    }
}

TEST(BlockCodec, EveryProcessorMakesTheSameBits) {
    std::vector<codec_loop::Kernels> const all = codec_loop::kernels_at_hand();
    codec_loop::Kernels const plain = codec_loop::plain_kernels();
    for (std::size_t kind = 0; kind < std::size(every_element); ++kind) {
        Element const element = every_element[kind];
        std::uint64_t const count = 4097;
        Row const row = some_row(element, count, 13);
        for (BlockFormat const& format : every_format()) {
            auto const code = static_cast<std::size_t>(format.code);
            std::vector<std::byte> a(format.row_bytes(count));
            plain[code][kind].pack(PackedRow::at(a.data(), format, count), row.numbers.data(), count, format);
            std::vector<std::byte> c(row.numbers.size());
            plain[code][kind].unpack(c.data(), PackedRow::at(a.data(), format, count), count, format);
            for (codec_loop::Kernels const& kernels : all) {
                std::vector<std::byte> b(a.size());
                kernels[code][kind].pack(PackedRow::at(b.data(), format, count), row.numbers.data(), count, format);
                EXPECT_EQ(a, b) << to_string(format);
                std::vector<std::byte> d(c.size());
                kernels[code][kind].unpack(d.data(), PackedRow::at(a.data(), format, count), count, format);
                EXPECT_EQ(c, d) << to_string(format);
            }
        }
    }
}

}  // namespace
}  // namespace dlmb::block_codec_test
