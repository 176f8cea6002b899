// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan as NCCL calls on one stream. The device runs the steps in order by itself; the host only enqueues them and
// then polls, so that an error of a peer ends the wait instead of hanging it.
#pragma once

#include "common/backend/backend.hpp"
#include "common/backends/nccl/calls.hpp"
#include "common/backends/nccl/communicators.hpp"
#include "common/backends/nccl/device.hpp"

#include <vector>

namespace dlmb::nccl {

/// ncclAlltoAll, or an Error where the library is older than 2.28.
void enqueue_all_to_all(AllToAllCall const& call, cudaStream_t stream);
/// Why ncclAlltoAll cannot be called; nullptr when it can.
[[nodiscard]] char const* all_to_all_missing();

class Compiled final : public CompiledPlan {
public:
    Compiled(std::vector<NativeCall> calls, std::size_t steps, Communicators& communicators, Stream const& stream);
    void launch() override;
    void finish() override;

private:
    void wait_for(Event const& event);

    std::vector<NativeCall> calls_;
    std::vector<Event> done_;  // one behind each call, for the phase marks
    Communicators& communicators_;
    std::vector<ncclComm_t> watched_;
    Stream const& stream_;
};

}  // namespace dlmb::nccl
