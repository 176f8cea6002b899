// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/stream.hpp"

#include <algorithm>

namespace dlmb::fake_gpu {
namespace {

thread_local std::vector<std::weak_ptr<Capture>> begun_by_this_thread;

/// All nodes that have to be done before those of `frontier`, and these.
std::vector<bool> reached_by(Graph const& graph, std::vector<std::size_t> const& frontier) {
    std::vector<bool> reached(graph.nodes.size());
    for (std::size_t const node : frontier) {
        reached[node] = true;
    }
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        for (std::size_t const earlier : graph.nodes[i].after) {
            reached[earlier] = reached[earlier] || reached[i];
        }
    }
    return reached;
}

}  // namespace

cudaError_t begin_capture(CUstream_st& stream) {
    if (stream.capture || &stream == &stream_of(nullptr)) {
        return cudaErrorStreamCaptureUnsupported;
    }
    stream.capture = std::make_shared<Capture>();
    stream.capture->streams = {&stream};
    begun_by_this_thread.push_back(stream.capture);
    return cudaSuccess;
}

cudaError_t end_capture(CUstream_st& stream, Graph& graph) {
    auto const capture = stream.capture;
    if (!capture) {
        return cudaErrorIllegalState;
    }
    if (capture->streams.front() != &stream) {
        return cudaErrorStreamCaptureUnmatched;
    }
    std::vector<bool> const joined = reached_by(capture->graph, stream.frontier);
    for (CUstream_st* const member : capture->streams) {
        member->capture.reset();
        member->frontier.clear();
    }
    if (capture->broken) {
        return cudaErrorStreamCaptureInvalidated;
    }
    if (std::find(joined.begin(), joined.end(), false) != joined.end()) {
        return cudaErrorStreamCaptureUnjoined;
    }
    graph = std::move(capture->graph);
    graph.lanes = capture->streams.size();
    return cudaSuccess;
}

bool capture_forbids_this() {
    std::erase_if(begun_by_this_thread, [](auto const& capture) { return capture.expired(); });
    for (auto const& known : begun_by_this_thread) {
        known.lock()->broken = true;
    }
    return !begun_by_this_thread.empty();
}

}  // namespace dlmb::fake_gpu
