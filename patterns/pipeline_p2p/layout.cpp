// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/layout.hpp"

namespace dlmb::pipeline_p2p {

int pipes_of(Shape const& shape) {
    switch (shape.schedule) {
    case Schedule::chimera:
        return 2 * shape.pipe_pairs;
    case Schedule::dualpipe:
        return 2;
    default:
        return 1;
    }
}

int stages_per_pipe(Shape const& shape) {
    switch (shape.schedule) {
    case Schedule::interleaved:
        return shape.ranks * shape.virtual_stages;
    case Schedule::zb_v:
        return shape.ranks * 2;
    default:
        return shape.ranks;
    }
}

int stages_per_rank(Shape const& shape) {
    return pipes_of(shape) * stages_per_pipe(shape) / shape.ranks;
}

int rank_of(Shape const& shape, int pipe, int stage) {
    int const ranks = shape.ranks;
    switch (shape.schedule) {
    case Schedule::interleaved:
        return stage % ranks;
    case Schedule::zb_v:
        return stage < ranks ? stage : 2 * ranks - 1 - stage;
    case Schedule::chimera: {
        bool const up = pipe % 2 == 1;
        int const shift = pipe / 2 * (ranks / shape.pipe_pairs);
        return ((up ? ranks - 1 - stage : stage) + shift) % ranks;
    }
    case Schedule::dualpipe:
        return pipe == 1 ? ranks - 1 - stage : stage;
    default:
        return stage;
    }
}

int pipe_of_microbatch(Shape const& shape, int microbatch) {
    switch (shape.schedule) {
    case Schedule::chimera:
        return microbatch % pipes_of(shape);
    case Schedule::dualpipe:
        return microbatch < shape.microbatches / 2 ? 0 : 1;
    default:
        return 0;
    }
}

std::optional<int> other_stage(Shape const& shape, TensorMessage const& message) {
    bool const towards_later = (message.direction == Direction::forward) != message.incoming;
    int const other = message.stage + (towards_later ? 1 : -1);
    if (other < 0 || other >= stages_per_pipe(shape)) {
        return std::nullopt;
    }
    return other;
}

void add_message(Shape const& shape, Transfer& transfer, TensorMessage const& message) {
    std::optional<int> const other = other_stage(shape, message);
    if (other && rank_of(shape, message.pipe, *other) != rank_of(shape, message.pipe, message.stage)) {
        transfer.push_back(message);
    }
}

TensorMessage input_of(Work const& work) {
    return {work.pass == Pass::forward ? Direction::forward : Direction::backward, true, work.pipe, work.stage,
            work.microbatch};
}

TensorMessage output_of(Work const& work) {
    TensorMessage message = input_of(work);
    message.incoming = false;
    return message;
}

std::uint64_t tensor_messages(Shape const& shape) {
    std::uint64_t messages = 0;
    for (int microbatch = 0; microbatch < shape.microbatches; ++microbatch) {
        int const pipe = pipe_of_microbatch(shape, microbatch);
        for (int stage = 1; stage < stages_per_pipe(shape); ++stage) {
            messages += rank_of(shape, pipe, stage - 1) == rank_of(shape, pipe, stage) ? 0U : 2U;
        }
    }
    return messages;
}

}  // namespace dlmb::pipeline_p2p
