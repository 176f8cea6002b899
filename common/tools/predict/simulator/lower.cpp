// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/simulator/lower.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>

namespace dlmb::predict {
namespace {

constexpr int channel_of_puts = -1;   // those of Sends are from 0 on
constexpr int channel_of_reads = -2;  // what a reader tells who offers
constexpr std::uint8_t message_cpu = 0;
constexpr std::uint8_t compute_cpu = 1;
constexpr std::uint64_t picoseconds_per_nanosecond = 1000;
constexpr std::size_t most_kept_micro_steps = 1 << 20;  // of some 100 bytes

/// Numbers by which the two ends of a message find each other: the k-th collective of a group has one on all members,
/// and so has each channel of Sends.
class Tags {
public:
    /// By the group's members, what its collectives have in their order.
    std::vector<std::uint32_t>& of_group(Group const& group) { return groups_[group.members]; }
    std::uint32_t of_collective(std::vector<std::uint32_t>& group, std::size_t number) {
        while (group.size() <= number) {
            group.push_back(next_++);
        }
        return group[number];
    }
    std::uint32_t of_channel(int channel) {
        auto const [place, added] = channels_.try_emplace(channel, next_);
        next_ += added ? 1 : 0;
        return place->second;
    }

private:
    std::map<std::vector<Rank>, std::vector<std::uint32_t>> groups_;
    std::map<int, std::uint32_t> channels_;
    std::uint32_t next_ = 0;
};

std::string_view algorithm_of(LoweringChoice const& choice, OperationKind kind) {
    auto const chosen = choice.algorithms.find(kind);
    if (chosen != choice.algorithms.end()) {
        return chosen->second;
    }
    return kind == OperationKind::exchange ? "linear" : "auto";
}

class Lowering {
public:
    Lowering(LoweringChoice const& choice, int ranks, int written)
        : choice_(choice), builder_(ProgramBuilder::Matching::in_order, ranks, written) {
        for (auto const& [kind, name] : choice.algorithms) {
            std::vector<std::string> known = algorithms::names_for(kind);
            if (kind == OperationKind::exchange) {
                known.insert(known.begin(), {"linear", "pairwise"});
            }
            if (std::find(known.begin(), known.end(), name) == known.end()) {
                throw UsageError(fmt::format("{}: {}", name_of(kind), unknown_name("algorithm", name, known)));
            }
        }
    }

    void add(Plan const& plan) {
        plan_ = &plan;
        builder_.begin_rank();
        step_end_.clear();
        groups_.clear();
        for (Group const& group : plan.groups) {
            groups_.push_back({&tags_.of_group(group), 0});
        }
        for (Step const& step : plan.steps) {
            builder_.begin_step(step.label);
            step_ = &step;
            if (auto const group = collective_group(step.operation)) {
                GroupState& state = groups_[*group];
                tag_ = tags_.of_collective(*state.tags, state.collectives++);
                add_together(step.operation);
            } else {
                std::visit([this](auto const& operation) { add_alone(operation); }, step.operation);
            }
        }
    }

    [[nodiscard]] Program finish() && { return std::move(builder_).finish(); }

private:
    /// A step of all ranks of a group begins with a call and ends in a join.
    void add_together(Operation const& operation) {
        begin_ = builder_.add({.kind = TaskKind::call});
        wait_for_earlier_steps(begin_);
        OperationKind const kind = kind_of(operation);
        std::string_view const name = algorithm_of(choice_, kind);
        last_.clear();
        auto const* exchange = std::get_if<Exchange>(&operation);
        if (exchange != nullptr && (name == "linear" || name == "pairwise")) {
            add_exchange(*exchange, name == "pairwise" ? static_cast<std::size_t>(choice_.outstanding) : 0);
        } else {
            auto const collective = algorithms::shaped_step(*plan_, operation);
            if (!collective) {
                throw UsageError(fmt::format("step \"{}\": algorithm {} takes exchanges of equal, packed blocks only",
                                             step_->label, name));
            }
            add_micro(*collective, micro_plan_of(collective->shape, algorithms::find(name, kind)));
        }
        TaskId const end = builder_.add({.kind = TaskKind::join});
        builder_.require(end, begin_);
        for (TaskId const task : last_) {
            builder_.require(end, task);
        }
        step_end_.push_back(end);
    }

    /// Layers repeat their collectives, and groups of one size have the same places.
    algorithms::MicroPlan const& micro_plan_of(algorithms::Shape const& shape, algorithms::Algorithm algorithm) {
        auto const known = micro_plans_.find(shape);
        if (known != micro_plans_.end()) {
            return known->second;
        }
        if (micro_steps_ > most_kept_micro_steps) {
            micro_plans_.clear();
            micro_steps_ = 0;
        }
        algorithms::MicroPlan const& made = micro_plans_.emplace(shape, algorithm(shape, choice_.knobs)).first->second;
        micro_steps_ += made.steps.size();
        return made;
    }

    void add_micro(algorithms::ShapedStep const& collective, algorithms::MicroPlan const& micro) {
        std::vector<Rank> const& members = plan_->groups[collective.group].members;
        TaskId const first = builder_.next();
        std::vector<bool> waited_for(micro.steps.size(), false);
        for (algorithms::MicroStep const& step : micro.steps) {
            constexpr std::array kinds{TaskKind::send, TaskKind::recv, TaskKind::copy, TaskKind::reduce};  // by Action
            Task task{
                .amount = step.bytes, .kind = kinds.at(static_cast<std::size_t>(step.action)), .cpu = message_cpu};
            if (step.peer >= 0) {
                task.peer = members[static_cast<std::size_t>(step.peer)];
            }
            TaskId const id = builder_.add(task, tag_);
            for (std::uint32_t const earlier : step.after) {
                builder_.require(id, first + earlier);
                waited_for[earlier] = true;
            }
            if (step.after.empty()) {
                builder_.require(id, begin_);
            }
        }
        for (std::size_t step = 0; step < waited_for.size(); ++step) {
            if (!waited_for[step]) {
                last_.push_back(first + static_cast<TaskId>(step));
            }
        }
    }

    /// The nearest peer ahead first, as backend ucx posts: sends, then receives, then the copy. `window`: so many of
    /// each at once; 0: all.
    void add_exchange(Exchange const& step, std::size_t window) {
        std::vector<Rank> const& members = plan_->groups[step.group].members;
        auto const places = static_cast<Rank>(members.size());
        Rank const me = rank_in(plan_->groups[step.group], plan_->me).value();
        auto const add_blocks = [&](std::vector<Block> const& blocks, TaskKind kind) {
            in_order_.clear();
            for (Block const& block : blocks) {
                if (block.peer != me && block.bytes > 0) {
                    Rank const ahead = kind == TaskKind::send ? block.peer - me : me - block.peer;
                    in_order_.push_back({(ahead + places) % places, &block});
                }
            }
            std::sort(in_order_.begin(), in_order_.end(),
                      [](auto const& left, auto const& right) { return left.distance < right.distance; });
            TaskId const first = builder_.next();
            for (std::size_t number = 0; number < in_order_.size(); ++number) {
                Block const& block = *in_order_[number].block;
                TaskId const task = builder_.add({.amount = block.bytes,
                                                  .peer = members[static_cast<std::size_t>(block.peer)],
                                                  .kind = kind,
                                                  .cpu = message_cpu},
                                                 tag_);
                bool const waits = window > 0 && number >= window;
                builder_.require(task, waits ? first + static_cast<TaskId>(number - window) : begin_);
                last_.push_back(task);
            }
        };
        add_blocks(step.send, TaskKind::send);
        add_blocks(step.recv, TaskKind::recv);
        for (Block const& block : step.send) {
            if (block.peer == me && block.bytes > 0) {
                last_.push_back(builder_.add({.amount = block.bytes, .kind = TaskKind::copy, .cpu = message_cpu}));
                builder_.require(last_.back(), begin_);
            }
        }
    }

    void add_alone(Send const& step) {
        add_window(TaskKind::send, step.to, step.window.messages, step.group, step.channel);
    }
    void add_alone(Recv const& step) {
        add_window(TaskKind::recv, step.from, step.window.messages, step.group, step.channel);
    }
    void add_alone(Compute const& step) {
        Task task{.amount = copied_bytes(step), .kind = TaskKind::copy, .cpu = message_cpu};
        if (task.amount == 0) {
            task = {.amount = static_cast<std::uint64_t>(step.busy_ns) * picoseconds_per_nanosecond,
                    .kind = TaskKind::calc,
                    .cpu = step.uninterrupted ? message_cpu : compute_cpu};
        }
        step_end_.push_back(builder_.add(task));
        wait_for_earlier_steps(step_end_.back());
    }
    void add_alone(Put const& step) { add_signals(TaskKind::send, step, step.send); }
    void add_alone(WaitSignal const& step) { add_signals(TaskKind::recv, step, step.recv); }
    template <class Together>
    void add_alone(Together const& /*step*/) {}

    /// A block and a flag are each a message, in the order in which they are put. Those to the rank itself are copies,
    /// of the Put; its WaitSignal stands behind it or beside it. Where blocks are read, the flag comes first, then a
    /// message that asks for them, as the library or the adapter of the reader sends one, and a flag back at the end.
    void add_signals(TaskKind kind, auto const& step, std::span<Block const> blocks) {
        TaskId const begin = builder_.add({.kind = TaskKind::join});
        wait_for_earlier_steps(begin);
        TaskKind const back = kind == TaskKind::send ? TaskKind::recv : TaskKind::send;
        for_each_signal(step.signals, blocks, [&](Signal const& signal, std::span<Block const> before, std::size_t) {
            Rank const peer = world_rank(*plan_, step.group, signal.peer);
            bool const stays = peer == plan_->me;
            auto const add_flag = [&](TaskKind direction, int channel, TaskId after) {
                Task const flag{.amount = flag_bytes, .peer = peer, .kind = direction};
                TaskId const task = builder_.add(flag, tags_.of_channel(channel));
                builder_.require(task, after);
                return task;
            };
            TaskId ready = begin;
            if (is_read(step.kind) && !stays) {
                ready = add_flag(kind, channel_of_puts, begin);
                ready = before.empty() ? ready : add_flag(back, channel_of_reads, ready);
            }
            std::vector<TaskId> moved;
            for (Block const& block : stays&& kind == TaskKind::recv ? std::span<Block const>() : before) {
                Task const task{.amount = block.bytes, .peer = peer, .kind = kind};
                moved.push_back(stays ? builder_.add({.amount = block.bytes, .kind = TaskKind::copy})
                                      : builder_.add(task, tags_.of_channel(channel_of_puts)));
                builder_.require(moved.back(), ready);
            }
            if (is_read(step.kind) && !stays) {
                TaskId const read = add_flag(back, channel_of_reads, ready);
                for (TaskId const task : moved) {
                    builder_.require(read, task);
                }
            } else if (!stays) {
                add_flag(kind, channel_of_puts, begin);
            }
        });
        end_step(kind, begin);
    }

    void add_window(TaskKind kind, Block const& block, Bytes messages, GroupId group, int channel) {
        Task const message{.amount = block.bytes, .peer = world_rank(*plan_, group, block.peer), .kind = kind};
        std::uint32_t const tag = tags_.of_channel(channel);
        TaskId const first = builder_.next();
        if (messages == 1) {
            wait_for_earlier_steps(builder_.add(message, tag));
        } else {
            wait_for_earlier_steps(builder_.add({.kind = TaskKind::join}));
            for (Bytes number = 0; number < messages; ++number) {
                builder_.require(builder_.add(message, tag), first);
            }
        }
        end_step(kind, first);
    }

    /// Behind all tasks from `first` on; where a message was waited for, the call returns then.
    void end_step(TaskKind kind, TaskId first) {
        TaskId end = builder_.next() - 1;
        if (end > first) {
            end = builder_.add({.kind = TaskKind::join});
            for (TaskId task = first; task < end; ++task) {
                builder_.require(end, task);
            }
        }
        if (kind == TaskKind::recv) {
            TaskId const call = builder_.add({.kind = TaskKind::call});
            builder_.require(call, end);
            end = call;
        }
        step_end_.push_back(end);
    }

    void wait_for_earlier_steps(TaskId task) {
        for (StepId const earlier : step_->after) {
            builder_.require(task, step_end_[earlier]);
        }
    }

    struct GroupState {
        std::vector<std::uint32_t>* tags;
        std::size_t collectives;
    };
    struct InOrder {
        Rank distance;
        Block const* block;
    };

    LoweringChoice const& choice_;
    ProgramBuilder builder_;
    Tags tags_;
    Plan const* plan_ = nullptr;
    Step const* step_ = nullptr;
    std::uint32_t tag_ = 0;
    TaskId begin_ = 0;
    std::vector<TaskId> last_;        // what the end of the present step waits for
    std::vector<TaskId> step_end_;    // by StepId
    std::vector<GroupState> groups_;  // by GroupId
    std::map<algorithms::Shape, algorithms::MicroPlan> micro_plans_;
    std::size_t micro_steps_ = 0;  // of these
    std::vector<InOrder> in_order_;
};

/// How far apart ranks are that do the step alike; 0: it depends on the rank.
int stride_of(Operation const& operation, Plan const& plan, LoweringChoice const& choice, int ranks) {
    if (std::holds_alternative<Compute>(operation)) {
        return 1;
    }
    std::optional<algorithms::ShapedStep> const collective = algorithms::shaped_step(plan, operation);
    if (!collective || collective->shape.places != ranks || collective->shape.place != plan.me) {
        return 0;
    }
    algorithms::Shape const& shape = collective->shape;
    std::string_view const name = algorithm_of(choice, shape.kind);
    if (shape.kind == OperationKind::exchange && (name == "linear" || name == "pairwise")) {
        return 1;
    }
    algorithms::Algorithm algorithm = algorithms::find(name, shape.kind);
    algorithm = algorithm == algorithms::automatic ? algorithms::choose(shape) : algorithm;
    if (algorithm == algorithms::dissemination || algorithm == algorithms::bruck_exchange) {
        return 1;
    }
    bool const around = algorithm == algorithms::ring || algorithm == algorithms::neighbor;
    if (!around || !shape.shares.empty() || shape.bytes % (size_of(shape.element) * static_cast<Bytes>(ranks)) != 0) {
        return 0;  // parts are not equal
    }
    return algorithm == algorithms::neighbor && ranks % 2 == 0 ? 2 : 1;
}

bool is_world(Group const& group, int ranks) {
    return group.members.size() == static_cast<std::size_t>(ranks) && group.members.front() == 0 &&
           group.members.back() == ranks - 1 && std::is_sorted(group.members.begin(), group.members.end());
}

/// The same operation of two ranks, but for their own numbers and places in buffers.
bool alike(Plan const& left_plan, Step const& left, Plan const& right_plan, Step const& right) {
    if (left.label != right.label || left.after != right.after || kind_of(left.operation) != kind_of(right.operation)) {
        return false;
    }
    if (auto const* compute = std::get_if<Compute>(&left.operation)) {
        return *compute == std::get<Compute>(right.operation);
    }
    auto const one = algorithms::shaped_step(left_plan, left.operation);
    auto const other = algorithms::shaped_step(right_plan, right.operation);
    return one && other && one->shape.bytes == other->shape.bytes && one->shape.element == other->shape.element &&
           one->shape.in_place == other->shape.in_place && one->shape.shares == other->shape.shares;
}

}  // namespace

Program lower(PlanSource const& plans, LoweringChoice const& choice, int period) {
    auto const ranks = static_cast<int>(plans.ranks());
    int const written = period == 0 ? ranks : period;
    Lowering lowering(choice, ranks, written);
    for (Rank rank = 0; rank < written; ++rank) {
        lowering.add(plans.of(rank));
    }
    return std::move(lowering).finish();
}

int period_of(PlanSource const& plans, LoweringChoice const& choice, int domain) {
    auto const ranks = static_cast<int>(plans.ranks());
    Plan const first = plans.of(0);
    int period = std::max(1, domain);
    for (Step const& step : first.steps) {
        int const stride = stride_of(step.operation, first, choice, ranks);
        if (stride == 0) {
            return ranks;
        }
        period = std::lcm(period, stride);
    }
    if (period >= ranks || ranks % period != 0) {
        return ranks;
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
        Plan const plan = plans.of(rank);
        bool same = plan.steps.size() == first.steps.size() && plan.groups.size() == first.groups.size() &&
                    std::all_of(plan.groups.begin(), plan.groups.end(),
                                [ranks](Group const& group) { return is_world(group, ranks); });
        for (std::size_t step = 0; same && step < plan.steps.size(); ++step) {
            same = alike(first, first.steps[step], plan, plan.steps[step]);
        }
        if (!same) {
            return ranks;
        }
    }
    return period;
}

}  // namespace dlmb::predict
