// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The kernel launches and waits of one iteration, captured once and replayed with one call.
#pragma once

#include "common/memory/device_queue.hpp"

#include <functional>

namespace dlmb::nccl {

class Graph {
public:
    /// What `enqueue` queues on `queue`, and on queues that wait for it, is captured instead of done. The capture
    /// concerns the calling thread only. Throws Error.
    Graph(DeviceQueue const& queue, std::function<void()> const& enqueue);
    Graph(Graph const&) = delete;
    Graph& operator=(Graph const&) = delete;
    ~Graph();

    void launch(DeviceQueue const& queue) const;
    /// The communicators in it are no more, and freeing it would ask them: it stays until the process ends.
    void leave() { executable_ = nullptr; }

private:
    void* executable_ = nullptr;  // cudaGraphExec_t
};

}  // namespace dlmb::nccl
