// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/makespan.hpp"

#include "common/base/error.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace dlmb::pipeline_p2p {
namespace {

/// Simulates the computations of all ranks: each starts when the rank is free and its input is there.
class Timeline {
public:
    /// Throws Error when the orders of the ranks wait for each other in a circle.
    Timeline(ScheduleShape const& shape, Durations const& durations)
        : shape_(shape), ends_(outputs_per_stage * static_cast<std::size_t>(pipes_of(shape) * stages_per_pipe(shape)) *
                                   static_cast<std::size_t>(shape.microbatches),
                               unknown) {
        auto& [tasks, starts, makespan] = table_;
        for (int rank = 0; rank < shape.ranks; ++rank) {
            tasks.push_back(tasks_of(shape, rank));
        }
        starts.resize(tasks.size());
        std::vector<Nanoseconds> free_at(tasks.size(), 0);
        for (bool progress = true; progress;) {
            progress = false;
            for (std::size_t rank = 0; rank < tasks.size(); ++rank) {
                while (starts[rank].size() < tasks[rank].size()) {
                    PipelineTask const& task = tasks[rank][starts[rank].size()];
                    Nanoseconds const input = ready(task);
                    if (input == unknown) {
                        break;
                    }
                    starts[rank].push_back(std::max(free_at[rank], input));
                    free_at[rank] = starts[rank].back() + durations.of(task);
                    for (StageWork const& work : task) {
                        ends_[place(work)] = free_at[rank];
                    }
                    progress = true;
                }
            }
        }
        for (std::size_t rank = 0; rank < tasks.size(); ++rank) {
            if (starts[rank].size() < tasks[rank].size()) {
                throw Error("pipeline_p2p: the orders of the ranks wait for each other in a circle");
            }
            makespan = std::max(makespan, free_at[rank]);
        }
    }

    [[nodiscard]] Timetable const& table() const { return table_; }
    /// When the output of the work was there.
    [[nodiscard]] Nanoseconds end(StageWork const& work) const { return ends_[place(work)]; }

private:
    static constexpr Nanoseconds unknown = -1;
    static constexpr std::size_t outputs_per_stage = 3;  // activation, gradient of the input, gradient of the weights

    [[nodiscard]] std::size_t place(StageWork const& work) const {
        std::size_t const output = work.pass == Pass::forward ? 0 : work.pass == Pass::backward_weight ? 2 : 1;
        int const stage = work.pipe * stages_per_pipe(shape_) + work.stage;
        return (static_cast<std::size_t>(stage) * static_cast<std::size_t>(shape_.microbatches) +
                static_cast<std::size_t>(work.microbatch)) *
                   outputs_per_stage +
               output;
    }

    /// When the inputs of all works of the task are there; unknown while one has not been made.
    [[nodiscard]] Nanoseconds ready(PipelineTask const& task) const {
        Nanoseconds latest = 0;
        auto const need = [&](StageWork const& work) {
            Nanoseconds const made = end(work);
            latest = made == unknown || latest == unknown ? unknown : std::max(latest, made);
        };
        for (StageWork const& work : task) {
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

    ScheduleShape shape_;
    Timetable table_;
    std::vector<Nanoseconds> ends_;
};

using Transfers = std::map<Nanoseconds, TensorTransfer>;  // by the time at which they are issued

StageWork producer_of(TensorMessage const& incoming, int other_stage) {
    Pass const pass = incoming.direction == Direction::forward ? Pass::forward : Pass::backward;
    return {pass, incoming.pipe, other_stage, incoming.microbatch};
}

void add(ScheduleShape const& shape, Transfers& transfers, StageWork const& work, EndOf const& end_of) {
    if (work.pass == Pass::backward_weight) {
        return;
    }
    TensorMessage const input = input_of(work);
    if (auto const other = other_stage(shape, input)) {
        add_message(shape, transfers[end_of(producer_of(input, *other))], input);
    }
    add_message(shape, transfers[end_of(work)], output_of(work));
}

}  // namespace

Nanoseconds Durations::of(PipelineTask const& task) const {
    Nanoseconds const by_pass[] = {forward, backward, backward_input, backward_weight};
    Nanoseconds sum = 0;
    for (StageWork const& work : task) {
        sum += by_pass[static_cast<std::size_t>(work.pass)];
    }
    return sum;
}

Timetable ideal_timetable(ScheduleShape const& shape, Durations const& durations) {
    return Timeline(shape, durations).table();
}

Nanoseconds compute_per_rank(ScheduleShape const& shape, Durations const& durations) {
    return Nanoseconds{shape.microbatches} * (stages_per_pipe(shape) / shape.ranks) *
           (durations.forward + durations.backward);
}

std::vector<ScheduleAction> with_transfers(ScheduleShape const& shape, std::span<TimedAction const> own,
                                           EndOf const& end_of) {
    Transfers transfers;
    for (TimedAction const& timed : own) {
        if (auto const* task = std::get_if<PipelineTask>(&timed.action)) {
            for (StageWork const& work : *task) {
                add(shape, transfers, work, end_of);
            }
        }
    }
    std::vector<ScheduleAction> actions;
    auto next = transfers.begin();
    auto const issue_until = [&](Nanoseconds slot) {
        for (; next != transfers.end() && next->first <= slot; ++next) {
            if (!next->second.empty()) {
                actions.emplace_back(std::move(next->second));
            }
        }
    };
    for (TimedAction const& timed : own) {
        issue_until(timed.slot);
        actions.push_back(timed.action);
    }
    issue_until(std::numeric_limits<Nanoseconds>::max());
    return actions;
}

std::vector<ScheduleAction> with_transfers(ScheduleShape const& shape, int rank) {
    Timeline const timeline(shape, Durations{});
    auto const place = static_cast<std::size_t>(rank);
    std::vector<TimedAction> own;
    for (PipelineTask const& task : timeline.table().tasks[place]) {
        own.push_back({task, timeline.table().starts[place][own.size()]});
    }
    return with_transfers(shape, own, [&](StageWork const& work) { return timeline.end(work); });
}

}  // namespace dlmb::pipeline_p2p
