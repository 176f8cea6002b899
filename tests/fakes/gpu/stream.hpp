// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Streams and events as the program holds them: a queue that works, or, between cudaStreamBeginCapture and
// cudaStreamEndCapture, a graph that grows.
#pragma once

#include "tests/fakes/gpu/event_state.hpp"
#include "tests/fakes/gpu/graph.hpp"
#include "tests/fakes/gpu/queue.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

namespace dlmb::fake_gpu {

/// One capture: the stream it began on and those that joined it through events.
struct Capture {
    Graph graph;
    std::vector<CUstream_st*> streams;
    bool broken = false;
};

/// A point in a stream that others can wait for.
struct Mark {
    std::shared_ptr<EventState> state = std::make_shared<EventState>();
    std::weak_ptr<Capture> captured_in;
    std::vector<std::size_t> captured_at;  // nodes
    bool captured = false;
};

}  // namespace dlmb::fake_gpu

struct CUstream_st {
    std::shared_ptr<dlmb::fake_gpu::Queue> queue = dlmb::fake_gpu::Queue::start();
    std::shared_ptr<dlmb::fake_gpu::Capture> capture;
    std::vector<std::size_t> frontier;  // the nodes of the capture that the next one waits for
};

struct CUevent_st {
    dlmb::fake_gpu::Mark mark;
    bool timing = true;
};

namespace dlmb::fake_gpu {

/// Also for the default stream's several names. Ends the process for a stream that was destroyed.
[[nodiscard]] CUstream_st& stream_of(cudaStream_t handle);
[[nodiscard]] cudaStream_t add_stream();
void remove_stream(cudaStream_t handle);

/// To be done after what is in the stream.
void enqueue(CUstream_st& stream, Work work);
/// As cudaEventRecord and cudaStreamWaitEvent; `external`: a node of its own in a graph.
void record(Mark& mark, CUstream_st& stream, bool external = false);
[[nodiscard]] cudaError_t wait(CUstream_st& stream, Mark const& mark);

[[nodiscard]] cudaError_t begin_capture(CUstream_st& stream);
[[nodiscard]] cudaError_t end_capture(CUstream_st& stream, Graph& graph);
/// This thread captures: calls that could wait or allocate fail and spoil the capture.
[[nodiscard]] bool capture_forbids_this();

}  // namespace dlmb::fake_gpu
