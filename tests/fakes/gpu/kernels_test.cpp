// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The project's own code for devices, on the double.
#include "common/backend_kit/device_reduction.hpp"
#include "common/backend_kit/host_reduce.hpp"
#include "common/memory/memory_space.hpp"

#include <gtest/gtest.h>

#include <array>

namespace dlmb {
namespace {

constexpr Bytes bytes = 1000;

class KernelsByName : public testing::TestWithParam<MemoryKind> {};

TEST_P(KernelsByName, FillAndCheckEveryKindOfMemory) {
    std::string why_not;
    auto const space = make_memory_space(GetParam(), why_not);
    ASSERT_NE(space, nullptr) << why_not;
    Allocation const memory = space->allocate(bytes);
    PayloadKey const key = payload_key(1, 2, 3, 4);
    space->fill(memory.data(), bytes, key);
    EXPECT_EQ(space->check(memory.data(), bytes, key), std::nullopt);

    constexpr Bytes place = 777;
    std::byte wrong{};
    space->copy_out(&wrong, memory.data() + place, 1);
    wrong = ~wrong;
    space->copy_in(memory.data() + place, &wrong, 1);
    auto const mismatch = space->check(memory.data(), bytes, key);
    ASSERT_TRUE(mismatch.has_value());
    EXPECT_EQ(mismatch->offset, place);
    EXPECT_EQ(mismatch->found, std::to_integer<std::uint8_t>(wrong));
}

INSTANTIATE_TEST_SUITE_P(Kinds, KernelsByName,
                         testing::Values(MemoryKind::cuda, MemoryKind::pinned, MemoryKind::managed),
                         [](auto const& test) { return std::string(name_of(test.param)); });

TEST(KernelsByName, ReduceAsTheHostDoes) {
    std::array<float, 3> const left{1, 2, 3};
    std::array<float, 3> const right{4, 5, -6};
    constexpr Bytes size = sizeof left;
    Allocation const operands = allocate_on_device(2 * size);
    DeviceQueue const queue;
    queue.copy(operands.data(), reinterpret_cast<std::byte const*>(left.data()), size);
    queue.copy(operands.data() + size, reinterpret_cast<std::byte const*>(right.data()), size);
    device_reduce(queue, operands.data(), operands.data(), operands.data() + size, size, Element::fp32, Reduction::sum);
    std::array<float, 3> found{};
    queue.copy(reinterpret_cast<std::byte*>(found.data()), operands.data(), size);
    queue.drain();
    EXPECT_EQ(found, (std::array<float, 3>{5, 7, -3}));
}

}  // namespace
}  // namespace dlmb
