// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/host_space.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace dlmb {
namespace {

TEST(HostSpace, EveryAllocationBeginsOnA2MiBBoundaryAndItsLastByteCanBeWritten) {
    HostSpace space;
    std::vector<Allocation> kept;  // together, so that none gets the place of another
    for (Bytes const bytes : {Bytes{1}, Bytes{4097}, host_alignment, host_alignment + 1, 3 * host_alignment + 1}) {
        kept.push_back(space.allocate(bytes));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(kept.back().data()) % host_alignment, 0U);
        EXPECT_EQ(kept.back().bytes(), bytes);
        kept.back().data()[bytes - 1] = std::byte{7};
    }
}

TEST(HostSpace, ZeroBytesAreAnEmptyAllocationThatCanBeFilledAndChecked) {
    HostSpace space;
    Allocation const memory = space.allocate(0);
    EXPECT_EQ(memory.bytes(), 0U);
    space.fill(memory.data(), 0, guard_key);
    EXPECT_FALSE(space.check(memory.data(), 0, guard_key));
    space.copy_in(memory.data(), nullptr, 0);
    space.copy_out(nullptr, memory.data(), 0);
}

TEST(HostSpace, OutOfMemoryNamesTheSizeAndTheSpace) {
    HostSpace space;
    // 2^60 B is above every address space of today; 2^64 - 1 would overflow when rounded up to the alignment.
    for (Bytes const bytes : {Bytes{1} << 60, ~Bytes{0}}) {
        EXPECT_THAT(message_of<Error>([&] { Allocation const memory = space.allocate(bytes); }),
                    testing::StartsWith("host memory: cannot allocate " + std::to_string(bytes) + " B"));
    }
}

TEST(HostSpace, CopiesGoInAndOutUnchanged) {
    HostSpace space;
    Allocation const memory = space.allocate(100);
    std::vector<std::byte> const in(100, std::byte{0x5A});
    std::vector<std::byte> out(100);
    space.copy_in(memory.data(), in.data(), in.size());
    space.copy_out(out.data(), memory.data(), out.size());
    EXPECT_EQ(in, out);
}

}  // namespace
}  // namespace dlmb
