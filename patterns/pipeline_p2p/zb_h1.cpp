// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// ZB-H1 (Qi et al., arXiv 2401.10241; ZB1P in PyTorch): the order of 1F1B with the backward pass split. Rank r puts the
// weight gradient of a micro-batch off by r micro-batches, which keeps the memory of 1F1B and fills the end.
#include "patterns/pipeline_p2p/schedules.hpp"
#include "patterns/pipeline_p2p/timetable.hpp"

#include <algorithm>

namespace dlmb::pipeline_p2p {
namespace {

std::vector<Task> tasks_of_rank(Shape const& shape, int rank) {
    int const warm_up = std::min(shape.ranks - 1 - rank, shape.microbatches);
    int const put_off = std::min(rank, shape.microbatches);
    std::vector<Task> tasks;
    auto const add = [&](Pass pass, int microbatch) { tasks.push_back({Work{pass, 0, rank, microbatch}}); };
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

}  // namespace

std::vector<Action> zb_h1(Shape const& shape, int rank) {
    std::vector<std::vector<Task>> tasks;
    for (int other = 0; other < shape.ranks; ++other) {
        tasks.push_back(tasks_of_rank(shape, other));
    }
    return with_transfers(shape, rank, tasks);
}

}  // namespace dlmb::pipeline_p2p
