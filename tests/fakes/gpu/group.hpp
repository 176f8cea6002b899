// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a thread asks of NCCL between ncclGroupStart and ncclGroupEnd. A call outside is a group of its own.
#pragma once

#include "tests/fakes/gpu/communicator.hpp"
#include "tests/fakes/gpu/operations.hpp"

namespace dlmb::fake_gpu {

/// Operations of one communicator in one group: one launch.
struct Launch {
    std::shared_ptr<Communicator> communicator;
    cudaStream_t stream = nullptr;
    std::vector<Operation> operations;
};

/// Keeps the operation until the group ends.
[[nodiscard]] ncclResult_t add_to_group(std::shared_ptr<Communicator> const& communicator, Operation const& operation,
                                        cudaStream_t stream);
/// The same for something that is set up.
[[nodiscard]] ncclResult_t add_to_group(std::shared_ptr<Communicator> communicator);
[[nodiscard]] ncclResult_t end_group();

}  // namespace dlmb::fake_gpu
