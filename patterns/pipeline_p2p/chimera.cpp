// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Chimera (Li and Hoefler, arXiv 2107.06925) by its closed form: `pipe_pairs` pipes run down the ranks and as many up,
// so that the passes of one fill the bubbles of the other. The pipes take micro-batches in turn; a round is as
// many as there are ranks, and rounds follow each other every 2 * ranks slots.
#include "patterns/pipeline_p2p/makespan.hpp"

#include <algorithm>
#include <set>

namespace dlmb::pipeline_p2p {
namespace {

/// Micro-batch x of a pipe in round q: forward of stage j in slot 2D*q + 2x + j, backward in 2D*q + 2x + 2D-1 - j.
Nanoseconds slot_of(ScheduleShape const& shape, StageWork const& work) {
    int const ranks = shape.ranks;
    int const round = work.microbatch / ranks;
    int const place = work.microbatch % ranks / pipes_of(shape);
    int const first = 2 * (ranks * round + place);
    return work.pass == Pass::forward ? first + work.stage : first + 2 * ranks - 1 - work.stage;
}

bool by_slot(TimedAction const& a, TimedAction const& b) {
    return a.slot < b.slot;
}

std::vector<TimedAction> passes_on(ScheduleShape const& shape, int rank) {
    std::vector<TimedAction> passes;
    for (int microbatch = 0; microbatch < shape.microbatches; ++microbatch) {
        int const pipe = pipe_of_microbatch(shape, microbatch);
        for (int stage = 0; stage < shape.ranks; ++stage) {
            if (rank_of(shape, pipe, stage) == rank) {
                for (Pass const pass : {Pass::forward, Pass::backward}) {
                    StageWork const work{pass, pipe, stage, microbatch};
                    passes.push_back({PipelineTask{work}, slot_of(shape, work)});
                }
            }
        }
    }
    std::sort(passes.begin(), passes.end(), by_slot);
    return passes;
}

/// Each stage's gradients in the first slot after its last backward pass that is idle. When the micro-batches do not
/// fill all pipes alike, the missing ones count as busy: then replicas synchronise in the same slot on all ranks.
std::vector<TimedAction> syncs_on(ScheduleShape const& shape, int rank) {
    ScheduleShape filled = shape;
    filled.microbatches = (shape.microbatches + pipes_of(shape) - 1) / pipes_of(shape) * pipes_of(shape);
    std::set<Nanoseconds> busy;
    std::vector<TimedAction> last_passes;
    std::vector<TimedAction> const passes = passes_on(filled, rank);
    for (TimedAction const& pass : passes) {
        busy.insert(pass.slot);
    }
    for (int pipe = 0; pipe < pipes_of(shape); ++pipe) {
        auto const last = std::find_if(passes.rbegin(), passes.rend(), [&](TimedAction const& pass) {
            return std::get<PipelineTask>(pass.action).front().pipe == pipe;
        });
        StageWork const& work = std::get<PipelineTask>(last->action).front();
        last_passes.push_back({GradientSync{pipe, work.stage}, last->slot});
    }
    std::sort(last_passes.begin(), last_passes.end(), by_slot);
    for (TimedAction& sync : last_passes) {
        while (busy.count(sync.slot) > 0) {
            ++sync.slot;
        }
        busy.insert(sync.slot);
    }
    return last_passes;
}

}  // namespace

std::vector<TimedAction> chimera_timetable(ScheduleShape const& shape, int rank) {
    std::vector<TimedAction> own = passes_on(shape, rank);
    std::vector<TimedAction> const syncs = syncs_on(shape, rank);
    own.insert(own.end(), syncs.begin(), syncs.end());
    std::stable_sort(own.begin(), own.end(), by_slot);
    return own;
}

std::vector<ScheduleAction> chimera(ScheduleShape const& shape, int rank) {
    return with_transfers(shape, chimera_timetable(shape, rank),
                          [&](StageWork const& work) { return slot_of(shape, work) + 1; });
}

}  // namespace dlmb::pipeline_p2p
