// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// GPipe (arXiv 1811.06965): all forward passes, then all backward passes.
#include "patterns/pipeline_p2p/schedules.hpp"
#include "patterns/pipeline_p2p/writer.hpp"

namespace dlmb::pipeline_p2p {

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

}  // namespace dlmb::pipeline_p2p
