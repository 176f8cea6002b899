// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A build without CUDA: without a device no queue can be made that these could be called with.
#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/device_reduction.hpp"
#include "common/base/error.hpp"

namespace dlmb {
namespace {

[[noreturn]] void no_device() {
    throw Error("CUDA: not in this build; configure with -DDLMB_WITH_CUDA=ON");
}

}  // namespace

void device_reduce(DeviceQueue const& /*queue*/, std::byte* /*to*/, std::byte const* /*left*/,
                   std::byte const* /*right*/, Bytes /*bytes*/, Element /*element*/, Reduction /*reduction*/) {
    no_device();
}

void device_reduction_input(DeviceQueue const& /*queue*/, std::byte* /*data*/, Bytes /*elements*/,
                            ReductionPayload const& /*payload*/, PayloadKey /*key*/, int /*member*/,
                            std::uint64_t /*first*/) {
    no_device();
}

DeviceReductionCheck::DeviceReductionCheck() {
    no_device();
}
std::optional<Bytes> DeviceReductionCheck::first_wrong(std::byte const* /*data*/, Bytes /*elements*/,
                                                       ReductionPayload const& /*payload*/, PayloadKey /*key*/,
                                                       std::uint64_t /*first*/) {
    no_device();
}

DeviceCompute::DeviceCompute(Compute const& /*step*/, Buffers const& /*buffers*/) {
    no_device();
}

}  // namespace dlmb
