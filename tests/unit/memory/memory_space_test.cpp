// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/memory_space.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace dlmb {
namespace {

TEST(MemorySpace, HostIsAlwaysThere) {
    std::string why_not;
    auto const space = make_memory_space(MemoryKind::host, why_not);
    ASSERT_NE(space, nullptr) << why_not;
    EXPECT_EQ(space->kind(), MemoryKind::host);
}

TEST(MemorySpace, EveryOtherKindIsThereOrSaysWhyItIsNot) {
    for (MemoryKind const kind : {MemoryKind::pinned, MemoryKind::cuda, MemoryKind::managed}) {
        std::string why_not;
        auto const space = make_memory_space(kind, why_not);
        EXPECT_EQ(space == nullptr, !why_not.empty()) << name_of(kind) << ": " << why_not;
        if (space != nullptr) {
            EXPECT_EQ(space->kind(), kind);
        }
    }
}

int released = 0;

TEST(Allocation, IsReleasedOnceHoweverOftenItMoves) {
    released = 0;
    std::byte memory{};
    {
        Allocation first(&memory, 1, [](std::byte*, Bytes) { ++released; });
        Allocation second(std::move(first));
        Allocation third;
        third = std::move(second);
        EXPECT_EQ(third.data(), &memory);
        EXPECT_EQ(released, 0);
    }
    EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace dlmb
