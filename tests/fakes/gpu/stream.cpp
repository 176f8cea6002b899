// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/stream.hpp"

#include "tests/fakes/gpu/wrong_use.hpp"

#include <algorithm>
#include <mutex>
#include <set>

namespace dlmb::fake_gpu {
namespace {

struct Streams {
    std::mutex mutex;
    std::set<cudaStream_t> living;
    CUstream_st* by_default = new CUstream_st;
};

Streams& streams() {
    static auto* const only = new Streams;
    return *only;
}

void add_node(CUstream_st& stream, Work work, std::shared_ptr<EventState> records) {
    Graph& graph = stream.capture->graph;
    auto const place = std::find(stream.capture->streams.begin(), stream.capture->streams.end(), &stream);
    auto const lane = static_cast<std::size_t>(place - stream.capture->streams.begin());
    graph.nodes.push_back({std::move(work), std::move(records), std::move(stream.frontier), lane});
    stream.frontier = {graph.nodes.size() - 1};
}

}  // namespace

CUstream_st& stream_of(cudaStream_t handle) {
    if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread) {
        return *streams().by_default;
    }
    std::lock_guard const lock(streams().mutex);
    if (streams().living.count(handle) == 0) {
        wrong_use("a stream that does not exist, or no more");
    }
    return *handle;
}

cudaStream_t add_stream() {
    auto* const stream = new CUstream_st;
    std::lock_guard const lock(streams().mutex);
    streams().living.insert(stream);
    return stream;
}

void remove_stream(cudaStream_t handle) {
    CUstream_st& stream = stream_of(handle);
    {
        std::lock_guard const lock(streams().mutex);
        streams().living.erase(handle);
    }
    stream.queue->close();
    delete &stream;
}

void enqueue(CUstream_st& stream, Work work) {
    if (stream.capture) {
        add_node(stream, std::move(work), nullptr);
    } else {
        stream.queue->push(std::move(work));
    }
}

void record(Mark& mark, CUstream_st& stream, bool external) {
    if (stream.capture && external) {
        add_node(stream, nullptr, mark.state);
        return;
    }
    mark.captured = stream.capture != nullptr;
    mark.captured_in = stream.capture;
    mark.captured_at = stream.frontier;
    if (!stream.capture) {
        stream.queue->push([state = mark.state, number = mark.state->issue()] { state->reach(number); });
    }
}

cudaError_t wait(CUstream_st& stream, Mark const& mark) {
    if (mark.captured) {
        auto const capture = mark.captured_in.lock();
        if (capture == nullptr || (stream.capture != nullptr && stream.capture != capture)) {
            return cudaErrorStreamCaptureIsolation;
        }
        if (stream.capture == nullptr) {
            stream.capture = capture;
            capture->streams.push_back(&stream);
        }
        stream.frontier.insert(stream.frontier.end(), mark.captured_at.begin(), mark.captured_at.end());
        return cudaSuccess;
    }
    if (stream.capture) {
        return cudaErrorStreamCaptureIsolation;
    }
    enqueue(stream, [state = mark.state, number = mark.state->last_issued()] { state->wait(number); });
    return cudaSuccess;
}

}  // namespace dlmb::fake_gpu
