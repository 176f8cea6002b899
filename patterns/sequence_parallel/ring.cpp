// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/builder.hpp"
#include "patterns/buffer_budget.hpp"
#include "patterns/sequence_parallel/plans.hpp"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace dlmb::sequence_parallel {
namespace {

constexpr int channel_of_keys = 0;
constexpr int channel_of_gradients = 1;

using Steps = std::vector<StepId>;

class Ring {
public:
    Ring(Params const& params, WorldShape const& world, Rank me)
        : params_(params), keys_(local_bytes(params.keys, params.ranks(), params.element)),
          gradients_(local_bytes(params.keys, params.ranks(), params.gradient_element)), builder_(me),
          group_(builder_.group(consecutive_group(world, me, params.sp))), next_((me % params.sp + 1) % params.sp),
          previous_((me % params.sp + params.sp - 1) % params.sp), budget_(params.memory_limit) {}

    void forward(std::uint32_t layer) {
        for (int step = 0; step < params_.sp; ++step) {
            attend("forward", step, layer);
        }
    }

    /// dk and dv of a block leave when this rank's part is added: after its attention and after the arrival of the sum
    /// so far.
    void backward(std::uint32_t layer) {
        Steps sums;
        for (int step = 0; step < params_.sp; ++step) {
            attend("backward", step, layer);
            ready_.insert(ready_.end(), sums.begin(), sums.end());
            sums = pass("backward.dkv", channel_of_gradients, gradients_, ready_, layer);
        }
        ready_ = std::move(sums);
    }

    [[nodiscard]] Plan finish() && { return std::move(builder_).finish(); }

private:
    /// Attention over the block that is here, while the next one arrives; afterwards both are ready.
    void attend(std::string const& phase, int step, std::uint32_t layer) {
        Steps done;
        if (step + 1 < params_.sp) {
            done = pass(phase + ".kv", channel_of_keys, keys_, ready_, layer);
        }
        if (params_.compute_ns > 0) {
            done.push_back(builder_.compute(params_.compute_ns, label(phase + ".compute", layer), ready_));
        }
        if (!done.empty()) {
            ready_ = std::move(done);
        }
    }

    Steps pass(std::string const& name, int channel, Bytes bytes, Steps const& after, std::uint32_t layer) {
        builder_.share_buffers(!budget_.take(4 * bytes));
        int const batch = batches_++;
        Steps steps;
        for (int tensor = 0; tensor < 2; ++tensor) {
            steps.push_back(builder_.send(group_, next_, bytes, channel, batch, label(name, layer), after));
            steps.push_back(builder_.recv(group_, previous_, bytes, channel, batch, label(name, layer), after));
        }
        return steps;
    }

    [[nodiscard]] std::string label(std::string const& name, std::uint32_t layer) const {
        return params_.layers > 1 ? fmt::format("{}.{}", name, layer) : name;
    }

    Params const& params_;
    Bytes keys_;       // of k, and of v
    Bytes gradients_;  // of dk, and of dv
    PlanBuilder builder_;
    GroupId group_;
    Rank next_;
    Rank previous_;
    BufferBudget budget_;
    int batches_ = 0;
    Steps ready_;  // what the next block waits for
};

}  // namespace

Plan ring_plan(Params const& params, WorldShape const& world, Rank me) {
    Ring ring(params, world, me);
    std::uint32_t const layers = params.sp > 1 ? params.layers : 0;
    if (params.direction != Direction::backward) {
        for (std::uint32_t layer = 0; layer < layers; ++layer) {
            ring.forward(layer);
        }
    }
    if (params.direction != Direction::forward) {
        for (std::uint32_t layer = layers; layer-- > 0;) {
            ring.backward(layer);
        }
    }
    return std::move(ring).finish();
}

}  // namespace dlmb::sequence_parallel
