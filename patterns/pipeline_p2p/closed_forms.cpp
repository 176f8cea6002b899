// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/closed_forms.hpp"

#include "patterns/pipeline_p2p/schedules.hpp"

#include <vector>

namespace dlmb::pipeline_p2p {
namespace {

std::optional<Nanoseconds> chimera_makespan(Shape const& shape, Durations const& durations) {
    Nanoseconds const ranks = shape.ranks;
    if (shape.microbatches % shape.ranks != 0) {
        return std::nullopt;
    }
    if (durations.forward == durations.backward) {
        Nanoseconds const rounds = shape.microbatches / shape.ranks;
        return (2 * ranks * rounds + ranks / shape.pipe_pairs - 2) * durations.forward;
    }
    if (shape.microbatches == shape.ranks && shape.pipe_pairs == 1 && durations.forward <= durations.backward) {
        return ranks * durations.forward + (2 * ranks - 2) * durations.backward;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Nanoseconds> closed_form_makespan(Shape const& shape, Durations const& durations) {
    Nanoseconds const ranks = shape.ranks;
    Nanoseconds const count = shape.microbatches;
    auto const [forward, backward, input, weight] = durations;
    auto const when = [](bool holds, Nanoseconds makespan) { return holds ? std::optional(makespan) : std::nullopt; };
    switch (shape.schedule) {
    case Schedule::gpipe:
    case Schedule::one_f_one_b:
        return (count + ranks - 1) * (forward + backward);
    case Schedule::interleaved:
        return when(count % ranks == 0 && shape.microbatch_group == shape.ranks,
                    (count * shape.virtual_stages + ranks - 1) * (forward + backward));
    case Schedule::chimera:
        return chimera_makespan(shape, durations);
    case Schedule::zb_h1:
        return when(count >= ranks && weight <= forward && weight <= input,
                    count * (forward + input + weight) + (ranks - 1) * (forward + input - weight));
    case Schedule::zb_v:
        return when(forward == input && input == weight && count >= 2 * ranks - 1, (6 * count + ranks - 1) * forward);
    case Schedule::dualpipe:
        return when(forward == input && weight <= input,
                    count * (forward + backward) + (ranks / 2 - 1) * (forward + 2 * backward - 3 * weight));
    }
    return std::nullopt;
}

Nanoseconds compute_per_rank(Shape const& shape, Durations const& durations) {
    bool const split = shape.schedule == Schedule::zb_h1 || shape.schedule == Schedule::zb_v;
    Nanoseconds const backward = split ? durations.backward_input + durations.backward_weight : durations.backward;
    return Nanoseconds{shape.microbatches} * (stages_per_pipe(shape) / shape.ranks) * (durations.forward + backward);
}

Nanoseconds ideal_makespan(Shape const& shape, Durations const& durations) {
    if (auto const closed = closed_form_makespan(shape, durations)) {
        return *closed;
    }
    std::vector<std::vector<Task>> tasks;
    for (int rank = 0; rank < shape.ranks; ++rank) {
        tasks.push_back(tasks_of(shape, rank));
    }
    return Timeline(shape, tasks, durations).makespan();
}

}  // namespace dlmb::pipeline_p2p
