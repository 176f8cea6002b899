// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "patterns/pipeline_p2p/makespan.hpp"

#include <algorithm>

namespace dlmb::pipeline_p2p {
namespace {

/// GPipe (arXiv 1811.06965): all forward passes, then all backward passes.
std::vector<ScheduleAction> gpipe(ScheduleShape const& shape, int rank) {
    ActionWriter writer(shape);
    for (Pass const pass : {Pass::forward, Pass::backward}) {
        for (int microbatch = 0; microbatch < shape.microbatches; ++microbatch) {
            StageWork const work{pass, 0, rank, microbatch};
            writer.transfer({input_of(work)});
            writer.compute({work});
            writer.transfer({output_of(work)});
        }
    }
    return std::move(writer).finish();
}

/// 1F1B without interleaving, Megatron-LM schedules.py forward_backward_pipelining_without_interleaving: as many
/// forward passes as stages follow, then one forward and one backward in turn, then the backward passes that are left.
std::vector<ScheduleAction> one_f_one_b(ScheduleShape const& shape, int rank) {
    int const warm_up = std::min(shape.ranks - 1 - rank, shape.microbatches);
    int const steady = shape.microbatches - warm_up;
    auto const forward = [&](int microbatch) { return StageWork{Pass::forward, 0, rank, microbatch}; };
    auto const backward = [&](int microbatch) { return StageWork{Pass::backward, 0, rank, microbatch}; };

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

}  // namespace

int pipes_of(ScheduleShape const& shape) {
    switch (shape.schedule) {
    case PipelineSchedule::chimera:
        return 2 * shape.pipe_pairs;
    case PipelineSchedule::dualpipe:
        return 2;
    default:
        return 1;
    }
}

int stages_per_pipe(ScheduleShape const& shape) {
    switch (shape.schedule) {
    case PipelineSchedule::interleaved:
        return shape.ranks * shape.virtual_stages;
    case PipelineSchedule::zb_v:
        return shape.ranks * 2;
    default:
        return shape.ranks;
    }
}

int stages_per_rank(ScheduleShape const& shape) {
    return pipes_of(shape) * stages_per_pipe(shape) / shape.ranks;
}

int rank_of(ScheduleShape const& shape, int pipe, int stage) {
    int const ranks = shape.ranks;
    switch (shape.schedule) {
    case PipelineSchedule::interleaved:
        return stage % ranks;
    case PipelineSchedule::zb_v:
        return stage < ranks ? stage : 2 * ranks - 1 - stage;
    case PipelineSchedule::chimera: {
        bool const up = pipe % 2 == 1;
        int const shift = pipe / 2 * (ranks / shape.pipe_pairs);
        return ((up ? ranks - 1 - stage : stage) + shift) % ranks;
    }
    case PipelineSchedule::dualpipe:
        return pipe == 1 ? ranks - 1 - stage : stage;
    default:
        return stage;
    }
}

int pipe_of_microbatch(ScheduleShape const& shape, int microbatch) {
    switch (shape.schedule) {
    case PipelineSchedule::chimera:
        return microbatch % pipes_of(shape);
    case PipelineSchedule::dualpipe:
        return microbatch < shape.microbatches / 2 ? 0 : 1;
    default:
        return 0;
    }
}

std::optional<int> other_stage(ScheduleShape const& shape, TensorMessage const& message) {
    bool const towards_later = (message.direction == Direction::forward) != message.incoming;
    int const other = message.stage + (towards_later ? 1 : -1);
    if (other < 0 || other >= stages_per_pipe(shape)) {
        return std::nullopt;
    }
    return other;
}

void add_message(ScheduleShape const& shape, TensorTransfer& transfer, TensorMessage const& message) {
    std::optional<int> const other = other_stage(shape, message);
    if (other && rank_of(shape, message.pipe, *other) != rank_of(shape, message.pipe, message.stage)) {
        transfer.push_back(message);
    }
}

TensorMessage input_of(StageWork const& work) {
    return {work.pass == Pass::forward ? Direction::forward : Direction::backward, true, work.pipe, work.stage,
            work.microbatch};
}

TensorMessage output_of(StageWork const& work) {
    TensorMessage message = input_of(work);
    message.incoming = false;
    return message;
}

std::uint64_t tensor_messages(ScheduleShape const& shape) {
    std::uint64_t messages = 0;
    for (int microbatch = 0; microbatch < shape.microbatches; ++microbatch) {
        int const pipe = pipe_of_microbatch(shape, microbatch);
        for (int stage = 1; stage < stages_per_pipe(shape); ++stage) {
            messages += rank_of(shape, pipe, stage - 1) == rank_of(shape, pipe, stage) ? 0U : 2U;
        }
    }
    return messages;
}

std::vector<ScheduleAction> actions_of(ScheduleShape const& shape, int rank) {
    switch (shape.schedule) {
    case PipelineSchedule::gpipe:
        return gpipe(shape, rank);
    case PipelineSchedule::one_f_one_b:
        return one_f_one_b(shape, rank);
    case PipelineSchedule::interleaved:
        return interleaved(shape, rank);
    case PipelineSchedule::chimera:
        return chimera(shape, rank);
    case PipelineSchedule::zb_h1:
    case PipelineSchedule::zb_v:
        return with_transfers(shape, rank);
    case PipelineSchedule::dualpipe:
        return dualpipe(shape, rank);
    }
    throw Error("pipeline_p2p: a schedule without a file");
}

std::vector<PipelineTask> tasks_of(ScheduleShape const& shape, int rank) {
    if (shape.schedule == PipelineSchedule::zb_h1) {  // whose actions take a simulation of all ranks
        return zb_h1_tasks(shape, rank);
    }
    if (shape.schedule == PipelineSchedule::zb_v) {
        return zb_v_tasks(shape, rank);
    }
    std::vector<PipelineTask> tasks;
    for (ScheduleAction& action : actions_of(shape, rank)) {
        if (auto* task = std::get_if<PipelineTask>(&action)) {
            tasks.push_back(std::move(*task));
        }
    }
    return tasks;
}

}  // namespace dlmb::pipeline_p2p
