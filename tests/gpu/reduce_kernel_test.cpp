// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// device_reduce against host_reduce, byte for byte.
#include "common/backend_kit/device_reduction.hpp"
#include "common/backend_kit/element_codec.hpp"
#include "common/backend_kit/host_reduce.hpp"
#include "tests/gpu/device_rig.hpp"
#include "tests/reductions/all_reductions.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace dlmb::reduce_kernel_test {
namespace {

// Around the vector of 16 bytes for every width of an element, and more than all threads of a grid take at once.
constexpr Bytes counts[] = {0, 1, 2, 3, 15, 16, 17, 33, 1000, (Bytes{20} << 20) + 3};
constexpr Bytes large_count = 4096;

/// Numbers from -8 to 8 in steps of 1/8: finite in every format, rounded by the narrow ones.
std::vector<std::byte> numbers(Element element, Bytes count, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(count * size_of(element));
    with_codec(element, [&](auto codec) {
        for (Bytes i = 0; i < count; ++i) {
            float const number = static_cast<float>(static_cast<int>(random() % 129) - 64) / 8;
            auto const stored = codec.store(static_cast<typename decltype(codec)::Value>(number));
            std::memcpy(bytes.data() + i * sizeof stored, &stored, sizeof stored);
        }
    });
    return bytes;
}

struct Case {
    Element element;
    Reduction reduction;
    Bytes count;
    Bytes shift_left;
    Bytes shift_right;
};

void expect_the_host_result(MemorySpace& space, Case const& run) {
    DeviceQueue const queue;
    std::vector<std::byte> left = numbers(run.element, run.count, 1);
    std::vector<std::byte> const right = numbers(run.element, run.count, 2);
    DeviceCopy const on_left(space, left, run.shift_left);
    DeviceCopy const on_right(space, right, run.shift_right);
    DeviceCopy const result(space, std::vector<std::byte>(left.size()), run.shift_left);
    device_reduce(queue, result.data(), on_left.data(), on_right.data(), left.size(), run.element, run.reduction);
    device_reduce(queue, on_left.data(), on_left.data(), on_right.data(), left.size(), run.element, run.reduction);
    queue.drain();
    host_reduce(left.data(), right.data(), left.size(), run.element, run.reduction);
    auto const name =
        std::string(name_of(run.element)) + " " + std::string(name_of(run.reduction)) + " " + std::to_string(run.count);
    EXPECT_TRUE(result.read() == left) << name;
    EXPECT_TRUE(on_left.read() == left) << name << ", in place";
}

class ReduceKernel : public testing::TestWithParam<Element> {};

TEST_P(ReduceKernel, GivesTheBytesOfTheHostForEverySizeAndReduction) {
    auto const space = device_space();
    for (Reduction const reduction : all_reductions) {
        for (Bytes const count : counts) {
            if (count <= large_count || reduction == Reduction::sum) {
                expect_the_host_result(*space, {GetParam(), reduction, count, 0, 0});
            }
        }
    }
}

TEST_P(ReduceKernel, TakesOperandsAtAnyAddress) {
    auto const space = device_space();
    for (Bytes const left : {Bytes{1}, Bytes{2}, Bytes{4}, Bytes{8}}) {
        for (Bytes const right : {Bytes{0}, Bytes{1}, Bytes{8}}) {
            expect_the_host_result(*space, {GetParam(), Reduction::sum, 1000, left, right});
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Elements, ReduceKernel, testing::ValuesIn(all_elements),
                         [](auto const& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace dlmb::reduce_kernel_test
