// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Rows packed and unpacked on the device against the host's, byte for byte.
#include "common/backend_kit/block_codec.hpp"
#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/element_codec.hpp"
#include "tests/gpu/device_rig.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace dlmb::convert_kernel_test {
namespace {

struct Case {
    BlockFormat format;
    Element element;
    std::uint64_t rows;
    std::uint64_t row_numbers;
    Bytes shift;  // of both buffers' rows behind an aligned address
};

/// Of many magnitudes, and some zeros.
std::vector<std::byte> numbers(Case const& run) {
    std::mt19937 random(7);
    std::vector<std::byte> bytes(run.rows * run.row_numbers * size_of(run.element));
    with_codec(run.element, [&](auto codec) {
        for (std::uint64_t i = 0; i < run.rows * run.row_numbers; ++i) {
            float const fraction = static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 2000;
            float const number = std::ldexp(fraction, static_cast<int>(random() % 24) - 12);
            auto const stored = codec.store(static_cast<typename decltype(codec)::Value>(number));
            std::memcpy(bytes.data() + i * sizeof stored, &stored, sizeof stored);
        }
    });
    return bytes;
}

void expect_the_host_result(MemorySpace& space, Case const& run) {
    Bytes const row_bytes = run.format.row_bytes(run.row_numbers);
    Bytes const row_of_numbers = run.row_numbers * size_of(run.element);
    std::vector<std::byte> from = numbers(run);
    std::vector<std::byte> packed(run.rows * row_bytes);
    std::vector<std::byte> unpacked(from.size());
    for (std::uint64_t row = 0; row < run.rows; ++row) {
        PackedRow const place = PackedRow::at(packed.data() + row * row_bytes, run.format, run.row_numbers);
        host_pack(place, from.data() + row * row_of_numbers, run.row_numbers, run.element, run.format);
        host_unpack(unpacked.data() + row * row_of_numbers, place, run.row_numbers, run.element, run.format);
    }

    DeviceCopy const on_device(space, from, run.shift);
    DeviceCopy const packed_there(space, std::vector<std::byte>(packed.size()), run.shift);
    DeviceCopy const unpacked_there(space, std::vector<std::byte>(from.size()), run.shift);
    DeviceQueue const queue;
    auto const convert = [&](PackDirection direction, std::byte* plain) {
        // Two tables of rows: the first row, and the others.
        std::vector<RowBlock> const blocks{{1, run.row_numbers, 0, 0},
                                           {run.rows - 1, run.row_numbers, row_of_numbers, row_bytes}};
        Compute step;
        step.conversion = Conversion{direction, run.format, run.element, 0, 1, blocks};
        Buffers const buffers{MemoryKind::cuda, {plain, packed_there.data()}};
        DeviceCompute const conversion(step, buffers);
        conversion.start(queue);
        queue.drain();
    };
    convert(PackDirection::pack, on_device.data());
    convert(PackDirection::unpack, unpacked_there.data());
    auto const name = to_string(run.format) + " of " + std::string(name_of(run.element)) + ", " +
                      std::to_string(run.rows) + " rows of " + std::to_string(run.row_numbers) + ", shift " +
                      std::to_string(run.shift);
    EXPECT_TRUE(packed_there.read() == packed) << name << ", packed";
    EXPECT_TRUE(unpacked_there.read() == unpacked) << name << ", unpacked";
}

class ConvertKernel : public testing::TestWithParam<char const*> {};

/// Whole blocks at aligned addresses are converted by vectors, the others block by block.
TEST_P(ConvertKernel, GivesTheBytesOfTheHostForEveryElementAndLengthAtAnyAddress) {
    auto const space = device_space();
    BlockFormat const format = block_format_named(GetParam()).value();
    for (Element const element : {Element::bf16, Element::fp16, Element::fp32}) {
        for (std::uint64_t const row_numbers : {std::uint64_t{2048}, std::uint64_t{format.block}, std::uint64_t{333}}) {
            for (Bytes const shift : {Bytes{0}, Bytes{1}, Bytes{16}}) {
                expect_the_host_result(*space, {format, element, 3, row_numbers, shift});
            }
        }
    }
    // More than all threads of a grid take at once.
    expect_the_host_result(*space, {format, Element::bf16, 2100, 4096, 0});
}

INSTANTIATE_TEST_SUITE_P(Formats, ConvertKernel,
                         testing::Values("mxfp8", "mxfp4", "mxfp8_e5m2", "mxint8", "int4:32:fp32", "fp8:128:fp32",
                                         "int8:256:fp32", "fp4:1024:e8m0"),
                         [](auto const& test) {
                             std::string name = test.param;
                             std::replace(name.begin(), name.end(), ':', '_');
                             return name;
                         });

}  // namespace
}  // namespace dlmb::convert_kernel_test
