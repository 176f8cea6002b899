// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/makespan.hpp"

#include "common/base/error.hpp"
#include "patterns/pipeline_p2p/schedules.hpp"

#include <algorithm>
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

Nanoseconds Durations::of(Task const& task) const {
    Nanoseconds sum = 0;
    for (Work const& work : task) {
        switch (work.pass) {
        case Pass::forward:
            sum += forward;
            break;
        case Pass::backward:
            sum += backward;
            break;
        case Pass::backward_input:
            sum += backward_input;
            break;
        case Pass::backward_weight:
            sum += backward_weight;
            break;
        }
    }
    return sum;
}

Timeline::Timeline(Shape const& shape, std::span<std::vector<Task> const> tasks, Durations const& durations)
    : shape_(shape), starts_(tasks.size()) {
    constexpr std::size_t outputs_per_stage = 3;  // activation, gradient of the input, gradient of the weights
    ends_.assign(outputs_per_stage * static_cast<std::size_t>(pipes_of(shape) * stages_per_pipe(shape)) *
                     static_cast<std::size_t>(shape.microbatches),
                 unknown);
    std::vector<Nanoseconds> free_at(tasks.size(), 0);
    std::size_t left = 0;
    for (std::vector<Task> const& own : tasks) {
        left += own.size();
    }
    while (left > 0) {
        std::size_t const before = left;
        for (std::size_t rank = 0; rank < tasks.size(); ++rank) {
            while (starts_[rank].size() < tasks[rank].size()) {
                Task const& task = tasks[rank][starts_[rank].size()];
                Nanoseconds const input = ready(task);
                if (input == unknown) {
                    break;
                }
                starts_[rank].push_back(std::max(free_at[rank], input));
                free_at[rank] = starts_[rank].back() + durations.of(task);
                finish_task(task, free_at[rank]);
                --left;
            }
        }
        if (left == before) {
            throw Error("pipeline_p2p: the orders of the ranks wait for each other in a circle");
        }
    }
    makespan_ = free_at.empty() ? 0 : *std::max_element(free_at.begin(), free_at.end());
}

std::size_t Timeline::place(Work const& work) const {
    std::size_t const output = work.pass == Pass::forward ? 0 : work.pass == Pass::backward_weight ? 2 : 1;
    auto const stage = static_cast<std::size_t>(work.pipe) * static_cast<std::size_t>(stages_per_pipe(shape_)) +
                       static_cast<std::size_t>(work.stage);
    return (stage * static_cast<std::size_t>(shape_.microbatches) + static_cast<std::size_t>(work.microbatch)) * 3 +
           output;
}

/// When the inputs of all works of the task are there; unknown while one has not been made.
Nanoseconds Timeline::ready(Task const& task) const {
    Nanoseconds latest = 0;
    auto const need = [&](Work const& work) {
        Nanoseconds const made = end(work);
        latest = made == unknown || latest == unknown ? unknown : std::max(latest, made);
    };
    for (Work const& work : task) {
        if (work.pass == Pass::forward) {
            if (work.stage > 0) {
                need({Pass::forward, work.pipe, work.stage - 1, work.microbatch});
            }
        } else if (work.pass == Pass::backward_weight) {
            need({Pass::backward_input, work.pipe, work.stage, work.microbatch});
        } else {
            need({Pass::forward, work.pipe, work.stage, work.microbatch});
            if (work.stage + 1 < stages_per_pipe(shape_)) {
                need({Pass::backward, work.pipe, work.stage + 1, work.microbatch});
            }
        }
    }
    return latest;
}

void Timeline::finish_task(Task const& task, Nanoseconds end) {
    for (Work const& work : task) {
        ends_[place(work)] = end;
    }
}

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
