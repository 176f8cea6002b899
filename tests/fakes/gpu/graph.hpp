// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Recorded work: nodes in the order of capture, each with the nodes that it waits for, and its replay. What was
// captured from one stream runs in order; what was captured from several runs side by side.
#pragma once

#include "tests/fakes/gpu/event_state.hpp"
#include "tests/fakes/gpu/queue.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace dlmb::fake_gpu {

struct Node {
    Work work;
    std::shared_ptr<EventState> records;  // an event that the node records instead of working
    std::vector<std::size_t> after;
    std::size_t lane = 0;
};

struct Graph {
    std::vector<Node> nodes;
    std::size_t lanes = 1;
};

/// Each lane but the first is a thread of its own.
class GraphExecution : public std::enable_shared_from_this<GraphExecution> {
public:
    explicit GraphExecution(Graph graph);
    GraphExecution(GraphExecution const&) = delete;
    GraphExecution& operator=(GraphExecution const&) = delete;
    ~GraphExecution();
    /// One replay. Its events are as they were before until the replay comes to them.
    [[nodiscard]] Work launch();

private:
    struct Run;
    void run_lane(Run& run, std::size_t lane) const;

    Graph graph_;
    std::vector<std::shared_ptr<Queue>> lanes_;
};

}  // namespace dlmb::fake_gpu
