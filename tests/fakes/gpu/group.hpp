// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a thread asks of NCCL between ncclGroupStart and ncclGroupEnd. A call outside is a group of its own.
#pragma once

#include "tests/fakes/gpu/communicator.hpp"
#include "tests/fakes/gpu/operations.hpp"

namespace dlmb::fake_gpu {

/// How many ncclGroupStart of this thread have had no ncclGroupEnd yet.
[[nodiscard]] int& group_depth();
/// Ends the process: the caller would wait for operations that the open group keeps back.
void require_no_open_group(char const* call);

/// Operations of one communicator in one group: one launch.
struct Launch {
    std::shared_ptr<Communicator> communicator;
    cudaStream_t stream = nullptr;
    std::vector<Operation> operations;
};

/// Into its stream: on a blocking communicator once its state is asked for, on others some questions later.
void begin(Launch const& launch);

/// Keeps the operation until the group ends.
[[nodiscard]] ncclResult_t add_to_group(std::shared_ptr<Communicator> const& communicator, Operation const& operation,
                                        cudaStream_t stream);
/// The same for something that is set up.
[[nodiscard]] ncclResult_t add_to_group(std::shared_ptr<Communicator> communicator);
[[nodiscard]] ncclResult_t end_group();

}  // namespace dlmb::fake_gpu
