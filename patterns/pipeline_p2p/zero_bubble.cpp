// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The zero-bubble schedules.
//
// ZB-H1 (Qi et al., arXiv 2401.10241; ZB1P in PyTorch): the order of 1F1B with the backward pass split. Rank r delays
// the weight gradient of a micro-batch by r micro-batches, which keeps the memory of 1F1B and fills the end.
//
// ZB-V (Qi et al., arXiv 2405.15362; order as in PyTorch schedules.py ScheduleZBVZeroBubble): two chunks per rank in a
// V, the first on the way down, the second on the way back. The order is made for at least 2 * ranks - 1 micro-batches;
// with fewer the passes of those that are missing are left out.
#include "patterns/pipeline_p2p/schedules.hpp"

#include <algorithm>
#include <array>

namespace dlmb::pipeline_p2p {
namespace {

class VSchedule {
public:
    VSchedule(ScheduleShape const& shape, int rank) : shape_(shape), stages_{rank, 2 * shape.ranks - 1 - rank} {}

    [[nodiscard]] std::vector<PipelineTask> tasks(int rank) && {
        int const microbatches = std::max(2 * shape_.ranks - 1, shape_.microbatches);
        int const after = shape_.ranks - rank;  // this rank and those behind it
        for (int i = 0; i < 2 * after - 1; ++i) {
            forward(0);
        }
        for (int i = 0; i < rank; ++i) {
            forward(1);
            forward(0);
        }
        for (int i = 0; i < after; ++i) {
            forward(1);
            input(1);
            weight(1);
        }
        while (forwards_[1] < forwards_[0] || forwards_[0] < microbatches) {
            if (forwards_[0] < microbatches) {
                forward(0);
            }
            input(0);
            weight(0);
            forward(1);
            input(1);
            weight(1);
        }
        for (int i = 0; i < rank; ++i) {
            input(0);
            input(1);
        }
        for (int i = 0; i < after; ++i) {
            input(0);
            weight(0);
        }
        for (std::size_t const chunk : {1U, 0U}) {
            while (weights_[chunk] < inputs_[chunk]) {
                weight(chunk);
            }
        }
        return std::move(tasks_);
    }

private:
    void forward(std::size_t chunk) { add(Pass::forward, chunk, forwards_[chunk]++); }
    void input(std::size_t chunk) { add(Pass::backward_input, chunk, inputs_[chunk]++); }
    void weight(std::size_t chunk) { add(Pass::backward_weight, chunk, weights_[chunk]++); }
    void add(Pass pass, std::size_t chunk, int microbatch) {
        if (microbatch < shape_.microbatches) {
            tasks_.push_back({StageWork{pass, 0, stages_[chunk], microbatch}});
        }
    }

    ScheduleShape const& shape_;
    std::array<int, 2> stages_;  // by chunk
    std::array<int, 2> forwards_{}, inputs_{}, weights_{};
    std::vector<PipelineTask> tasks_;
};

}  // namespace

std::vector<PipelineTask> zb_h1_tasks(ScheduleShape const& shape, int rank) {
    int const warm_up = std::min(shape.ranks - 1 - rank, shape.microbatches);
    int const put_off = std::min(rank, shape.microbatches);
    std::vector<PipelineTask> tasks;
    auto const add = [&](Pass pass, int microbatch) { tasks.push_back({StageWork{pass, 0, rank, microbatch}}); };
    for (int i = 0; i < warm_up; ++i) {
        add(Pass::forward, i);
    }
    for (int i = 0; i < shape.microbatches; ++i) {
        if (warm_up + i < shape.microbatches) {
            add(Pass::forward, warm_up + i);
        }
        add(Pass::backward_input, i);
        if (i >= put_off) {
            add(Pass::backward_weight, i - put_off);
        }
    }
    for (int i = shape.microbatches - put_off; i < shape.microbatches; ++i) {
        add(Pass::backward_weight, i);
    }
    return tasks;
}

std::vector<PipelineTask> zb_v_tasks(ScheduleShape const& shape, int rank) {
    return VSchedule(shape, rank).tasks(rank);
}

}  // namespace dlmb::pipeline_p2p
