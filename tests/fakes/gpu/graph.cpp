// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/graph.hpp"

#include <utility>

namespace dlmb::fake_gpu {

struct GraphExecution::Run {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<bool> done;

    void wait_for(std::vector<std::size_t> const& nodes) {
        std::unique_lock lock(mutex);
        for (std::size_t const node : nodes) {
            changed.wait(lock, [&] { return done[node]; });
        }
    }
    void finish(std::size_t node) {
        {
            std::lock_guard const lock(mutex);
            done[node] = true;
        }
        changed.notify_all();
    }
};

GraphExecution::GraphExecution(Graph graph) : graph_(std::move(graph)) {
    for (std::size_t lane = 1; lane < graph_.lanes; ++lane) {
        lanes_.push_back(Queue::start());
    }
}

GraphExecution::~GraphExecution() {
    for (auto const& lane : lanes_) {
        lane->close();
    }
}

Work GraphExecution::launch() {
    auto run = std::make_shared<Run>();
    run->done.resize(graph_.nodes.size());
    return [self = shared_from_this(), run] {
        for (std::size_t lane = 1; lane < self->graph_.lanes; ++lane) {
            self->lanes_[lane - 1]->push([self, run, lane] { self->run_lane(*run, lane); });
        }
        self->run_lane(*run, 0);
        for (std::size_t node = 0; node < self->graph_.nodes.size(); ++node) {
            run->wait_for({node});
        }
    };
}

void GraphExecution::run_lane(Run& run, std::size_t lane) const {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
        Node const& node = graph_.nodes[i];
        if (node.lane != lane) {
            continue;
        }
        run.wait_for(node.after);
        if (node.records) {
            node.records->reach(node.records->issue());
        } else {
            node.work();
        }
        run.finish(i);
    }
}

}  // namespace dlmb::fake_gpu
