// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/ucp.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {
namespace {

constexpr std::uint64_t host_bit = std::uint64_t{1} << UCS_MEMORY_TYPE_HOST;
constexpr std::uint64_t cuda_bit = std::uint64_t{1} << UCS_MEMORY_TYPE_CUDA;
constexpr std::uint64_t managed_bit = std::uint64_t{1} << UCS_MEMORY_TYPE_CUDA_MANAGED;

TEST(MemoryTypes, OfAUcxWithoutCudaAreThoseOfTheHost) {
    MemoryTypes const types(host_bit);
    EXPECT_TRUE(types.has(MemoryKind::host));
    EXPECT_TRUE(types.has(MemoryKind::pinned)) << "what the host can address is host memory to UCX";
    EXPECT_FALSE(types.has(MemoryKind::cuda));
    EXPECT_FALSE(types.has(MemoryKind::nccl));
    EXPECT_FALSE(types.has(MemoryKind::managed));
    EXPECT_EQ(types.text(), "host");
}

TEST(MemoryTypes, AreAskedOneByOne) {
    MemoryTypes const types(host_bit | cuda_bit);
    EXPECT_TRUE(types.has(MemoryKind::cuda));
    EXPECT_TRUE(types.has(MemoryKind::nccl)) << "device memory, whoever allocated it";
    EXPECT_FALSE(types.has(MemoryKind::managed));
    EXPECT_EQ(types.text(), "host cuda");
    EXPECT_EQ(MemoryTypes(host_bit | cuda_bit | managed_bit).text(), "host cuda cuda-managed");
}

TEST(MemoryTypes, WhatIsMissingIsExplainedWithTheWayToGetIt) {
    EXPECT_EQ(
        MemoryTypes(host_bit).why_no(MemoryKind::cuda, "all"),
        "this UCX knows host memory only; it must be built with CUDA and find the driver, as the one in the Python "
        "wheels libucx-cu13 and libucx-cu12: configure with -Ducx_ROOT=FOLDER/libucx");
    EXPECT_EQ(MemoryTypes(host_bit).why_no(MemoryKind::host, "all"), "");
}

TEST(MemoryTypes, AUsersListOfTransportsIsNamedAsAPossibleCause) {
    std::string const why = MemoryTypes(host_bit).why_no(MemoryKind::cuda, "self,tcp");
    EXPECT_NE(why.find("UCX_TLS=self,tcp, which must include cuda"), std::string::npos) << why;
}

}  // namespace
}  // namespace dlmb::ucx
