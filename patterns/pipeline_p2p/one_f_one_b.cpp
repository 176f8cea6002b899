// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// 1F1B without interleaving, Megatron-LM schedules.py forward_backward_pipelining_without_interleaving: as many forward
// passes as stages follow, then one forward and one backward in turn, then the backward passes that are left.
#include "patterns/pipeline_p2p/schedules.hpp"

#include <algorithm>

namespace dlmb::pipeline_p2p {

std::vector<Action> one_f_one_b(Shape const& shape, int rank) {
    int const warm_up = std::min(shape.ranks - 1 - rank, shape.microbatches);
    int const steady = shape.microbatches - warm_up;
    auto const forward = [&](int microbatch) { return Work{Pass::forward, 0, rank, microbatch}; };
    auto const backward = [&](int microbatch) { return Work{Pass::backward, 0, rank, microbatch}; };

    ActionWriter writer(shape);
    for (int i = 0; i < warm_up; ++i) {
        writer.transfer({input_of(forward(i))});
        writer.compute({forward(i)});
        writer.transfer({output_of(forward(i))});
    }
    if (steady > 0) {
        writer.transfer({input_of(forward(warm_up))});
    }
    for (int i = 0; i < steady; ++i) {
        writer.compute({forward(warm_up + i)});
        writer.transfer({output_of(forward(warm_up + i)), input_of(backward(i))});
        writer.compute({backward(i)});
        if (i + 1 < steady) {
            writer.transfer({output_of(backward(i)), input_of(forward(warm_up + i + 1))});
        } else {
            writer.transfer({output_of(backward(i))});
        }
    }
    for (int i = steady; i < shape.microbatches; ++i) {
        writer.transfer({input_of(backward(i))});
        writer.compute({backward(i)});
        writer.transfer({output_of(backward(i))});
    }
    return std::move(writer).finish();
}

}  // namespace dlmb::pipeline_p2p
