// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory from ncclMemAlloc; the rest of the corpus fills and checks it.
#include "tests/unit/nccl/double_rig.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace dlmb::nccl {
namespace {

class NcclMemoryOnDouble : public testing::Test {
protected:
    std::string why_not_;
    std::unique_ptr<MemorySpace> space_ = make_memory(MemoryKind::nccl, why_not_);
};

TEST_F(NcclMemoryOnDouble, NothingIsAllocatedForAnEmptyBuffer) {
    EXPECT_EQ(space_->allocate(0).data(), nullptr);
}

TEST_F(NcclMemoryOnDouble, WhatIsCopiedInComesOut) {
    Allocation const memory = space_->allocate(3);
    std::array const bytes{std::byte{1}, std::byte{2}, std::byte{3}};
    space_->copy_in(memory.data(), bytes.data(), bytes.size());
    std::array<std::byte, 3> found{};
    space_->copy_out(found.data(), memory.data(), found.size());
    EXPECT_EQ(found, bytes);
}

TEST_F(NcclMemoryOnDouble, TooMuchIsAnErrorWithTheSize) {
    EXPECT_THAT([&] { (void)space_->allocate(Bytes{1} << 40); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("ncclMemAlloc(1099511627776 B, 1 T)")));
}

}  // namespace
}  // namespace dlmb::nccl
