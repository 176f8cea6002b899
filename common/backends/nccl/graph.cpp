// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/graph.hpp"

#include "common/backends/nccl/check.hpp"

namespace dlmb::nccl {
namespace {

/// Ended whatever happens: a stream that stays in capture takes no other work.
class Capture {
public:
    explicit Capture(cudaStream_t stream) : stream_(stream) {
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    }
    Capture(Capture const&) = delete;
    Capture& operator=(Capture const&) = delete;
    ~Capture() {
        if (!ended_) {
            cudaStreamEndCapture(stream_, &graph_);
        }
        if (graph_ != nullptr) {
            cudaGraphDestroy(graph_);
        }
    }

    [[nodiscard]] cudaGraph_t end() {
        ended_ = true;
        check(cudaStreamEndCapture(stream_, &graph_), "cudaStreamEndCapture");
        return graph_;
    }

private:
    cudaStream_t stream_;
    cudaGraph_t graph_ = nullptr;
    bool ended_ = false;
};

cudaGraphExec_t executable_of(void* executable) {
    return static_cast<cudaGraphExec_t>(executable);
}

}  // namespace

Graph::Graph(DeviceQueue const& queue, std::function<void()> const& enqueue) {
    Capture capture(stream_of(queue.native()));
    enqueue();
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiateWithFlags(&executable, capture.end(), 0), "cudaGraphInstantiateWithFlags");
    executable_ = executable;
}

Graph::~Graph() {
    if (executable_ != nullptr) {
        cudaGraphExecDestroy(executable_of(executable_));
    }
}

void Graph::launch(DeviceQueue const& queue) const {
    check(cudaGraphLaunch(executable_of(executable_), stream_of(queue.native())), "cudaGraphLaunch");
}

}  // namespace dlmb::nccl
