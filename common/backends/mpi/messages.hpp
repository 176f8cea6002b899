// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A step as native messages: what the point-to-point methods post.
#pragma once

#include "common/backends/mpi/methods.hpp"

#include <optional>
#include <vector>

namespace dlmb::mpi {

/// At most CallLimits::chunk_bytes. Chunks of one block share peer and tag: MPI delivers them in posting order.
struct NativeMessage {
    std::byte* data = nullptr;
    int bytes = 0;
    int peer = 0;  // rank in the communicator it is posted on
    bool outgoing = false;
};

struct MemoryCopy {
    std::byte* to = nullptr;
    std::byte const* from = nullptr;
    Bytes bytes = 0;
};

/// The block of an exchange that stays on its rank; of 0 bytes where there is none.
[[nodiscard]] MemoryCopy self_copy(Exchange const& exchange, int me, std::byte const* send, std::byte* recv);

/// The block of an exchange that stays on its rank. Host memory is copied by the host in start(), device memory by a
/// queue of the device.
class SelfCopy {
public:
    SelfCopy() = default;  // nothing to copy
    /// `queue`: of the device that the buffers are on, outlives this; nullptr for host memory.
    SelfCopy(Exchange const& exchange, Buffers const& buffers, int me, DeviceQueue const* queue);

    void start();
    [[nodiscard]] bool test() const { return !done_ || done_->reached(); }
    void wait() const {
        while (!test()) {
        }
    }

private:
    MemoryCopy copy_;
    DeviceQueue const* queue_ = nullptr;
    std::optional<DeviceEvent> done_;  // on a device
};

/// All messages of one step.
struct StepMessages {
    std::vector<NativeMessage> messages;  // receives first: an early message finds its buffer
    SelfCopy self;
    int tag = 0;
    MPI_Comm comm = MPI_COMM_NULL;
};

/// `blocks` without the self block, starting with the peer after `me`.
[[nodiscard]] std::vector<Block> rotated_peers(std::vector<Block> const& blocks, int me);

/// Messages of an exchange, a send or a receive. The peers of an exchange start with the next rank, so that no rank is
/// everybody's first target.
[[nodiscard]] StepMessages messages_of(Operation const& operation, CompileContext const& context);

/// A send or a receive: MPI_Send or MPI_Recv, unless steps overlap or it is a window of several messages.
[[nodiscard]] PreparedCall compile_blocking_message(Operation const& operation, CompileContext const& context);

/// The messages of one block; none for an empty one.
void append_messages(std::byte* data, Bytes bytes, int peer, bool outgoing, CallLimits const& limits,
                     std::vector<NativeMessage>& messages);

void post(NativeMessage const& message, int tag, MPI_Comm comm, MPI_Request& request);

}  // namespace dlmb::mpi
