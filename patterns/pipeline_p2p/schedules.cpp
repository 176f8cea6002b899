// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/schedules.hpp"

#include "common/base/error.hpp"

#include <utility>

namespace dlmb::pipeline_p2p {

/// GPipe (arXiv 1811.06965): all forward passes, then all backward passes.
std::vector<Action> gpipe(Shape const& shape, int rank) {
    ActionWriter writer(shape);
    for (Pass const pass : {Pass::forward, Pass::backward}) {
        for (int microbatch = 0; microbatch < shape.microbatches; ++microbatch) {
            Work const work{pass, 0, rank, microbatch};
            writer.transfer({input_of(work)});
            writer.compute({work});
            writer.transfer({output_of(work)});
        }
    }
    return std::move(writer).finish();
}

std::vector<Action> actions_of(Shape const& shape, int rank) {
    switch (shape.schedule) {
    case Schedule::gpipe:
        return gpipe(shape, rank);
    case Schedule::one_f_one_b:
        return one_f_one_b(shape, rank);
    case Schedule::interleaved:
        return interleaved(shape, rank);
    case Schedule::chimera:
        return chimera(shape, rank);
    case Schedule::zb_h1:
        return zb_h1(shape, rank);
    case Schedule::zb_v:
        return zb_v(shape, rank);
    case Schedule::dualpipe:
        return dualpipe(shape, rank);
    }
    throw Error("pipeline_p2p: a schedule without a file");
}

std::vector<Task> tasks_of(Shape const& shape, int rank) {
    std::vector<Task> tasks;
    for (Action& action : actions_of(shape, rank)) {
        if (auto* task = std::get_if<Task>(&action)) {
            tasks.push_back(std::move(*task));
        }
    }
    return tasks;
}

}  // namespace dlmb::pipeline_p2p
