// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/call_log.hpp"
#include "tests/fakes/gpu/last_error.hpp"
#include "tests/fakes/gpu/stream.hpp"

#include <string>
#include <utility>

using namespace dlmb::fake_gpu;

struct CUgraph_st {
    Graph graph;
};
struct CUgraphExec_st {
    std::shared_ptr<GraphExecution> execution;
    std::size_t nodes = 0;
};

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
    return remember(begin_capture(stream_of(stream)));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    *graph = nullptr;
    Graph captured;
    cudaError_t const code = end_capture(stream_of(stream), captured);
    if (code == cudaSuccess) {
        *graph = new CUgraph_st{std::move(captured)};
    }
    return remember(code);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
    *count = graph->graph.nodes.size();
    return remember(nodes == nullptr ? cudaSuccess : cudaErrorNotSupported);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* execution, cudaGraph_t graph, unsigned long long /*flags*/) {
    *execution = new CUgraphExec_st{std::make_shared<GraphExecution>(graph->graph), graph->graph.nodes.size()};
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t execution, cudaStream_t handle) {
    note_call("cudaGraphLaunch", std::to_string(execution->nodes) + " nodes");
    CUstream_st& stream = stream_of(handle);
    if (stream.capture) {
        return remember(cudaErrorStreamCaptureUnsupported);
    }
    enqueue(stream, execution->execution->launch());
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t execution) {
    delete execution;
    return cudaSuccess;
}
