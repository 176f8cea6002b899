// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Turns the actions of one rank into steps. Compute steps are in one line. What else waits for what, by mode:
//
//   batched         the messages of a transfer are one batch; the next computation waits for all of them
//   handshake_data  the same twice: shapes, then tensors
//   meta_data       schedules with one stage per rank: each wire message waits for the one before it, towards the
//                   next stage receives first, towards the previous stage sends first; other schedules: the wire
//                   messages of one tensor. The next computation waits for all
//   separate        each message on its own, after the computation before it; a computation waits for what it works on
//                   only, and no computation waits for a send
//
// Without compute steps their place in the order is kept: a step waits for the messages that the computations before
// it would have waited for.
#include "patterns/pipeline_p2p/pipeline_p2p.hpp"

#include "common/plan/builder.hpp"
#include "patterns/buffer_budget.hpp"
#include "patterns/pipeline_p2p/final_collectives.hpp"
#include "patterns/pipeline_p2p/makespan.hpp"
#include "patterns/pipeline_p2p/message_steps.hpp"
#include "patterns/pipeline_p2p/params.hpp"
#include "patterns/pipeline_p2p/schedules.hpp"
#include "patterns/pipeline_p2p/wire_messages.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace dlmb::pipeline_p2p {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

/// The steps that must be complete before what comes next: the ends of all that has been waited for so far, without
/// those that another of them waited for.
class PendingSteps {
public:
    [[nodiscard]] std::vector<StepId> const& steps() const { return steps_; }

    /// `step`, which waits for `after`, is waited for from now on.
    void wait_for(StepId step, std::vector<StepId> const& after) {
        auto const implied = [&](StepId known) {
            return known == step || std::find(after.begin(), after.end(), known) != after.end();
        };
        steps_.erase(std::remove_if(steps_.begin(), steps_.end(), implied), steps_.end());
        steps_.insert(std::lower_bound(steps_.begin(), steps_.end(), step), step);
    }

    /// `steps`, in ascending order, which all come after everything before.
    void move_to(std::vector<StepId> steps) { steps_ = std::move(steps); }

private:
    std::vector<StepId> steps_;
};

std::string compute_label(Task const& task) {
    constexpr char const* passes[] = {"compute.forward", "compute.backward", "compute.backward_input",
                                      "compute.backward_weight"};
    return task.size() > 1 ? "compute.forward_backward" : passes[static_cast<std::size_t>(task.front().pass)];
}

class IterationBuilder {
public:
    IterationBuilder(Params const& params, WorldShape const& world, Rank me)
        : params_(params), rank_(me / params.stage_width()), builder_(me), budget_(params.memory_limit),
          messages_(params, world, me, builder_, budget_), final_(params, world, me) {
        final_.reserve(budget_);
    }

    void operator()(Task const& task) {
        for (Work const& work : task) {
            wait_for_input(work);
        }
        if (params_.computes) {
            builder_.microbatch(task.front().microbatch);
            StepId const step =
                builder_.compute(params_.durations.of(task), compute_label(task), pending_.steps(), params_.product);
            pending_.move_to({step});
        }
    }

    void operator()(Transfer const& transfer) {
        Transfer const ordered = in_order_of_issue(params_, rank_, transfer);
        std::vector<StepId> last = pending_.steps();
        switch (params_.mode) {
        case Mode::separate:
            for (TensorMessage const& message : ordered) {
                WireMessage const tensor{WireMessageKind::data, message_bytes(params_.tensor)};
                StepId const step = messages_.post(message, tensor, -1, pending_.steps());
                arrived(message, step, pending_.steps());
            }
            return;
        case Mode::batched:
        case Mode::handshake_data:
            last = batches(ordered, std::move(last));
            break;
        case Mode::meta_data:
            last = stages_per_rank(params_.shape) == 1 ? one_by_one(ordered, std::move(last))
                                                       : side_by_side(ordered, last);
            break;
        }
        pending_.move_to(gather_all(ordered, std::move(last)));
    }

    void operator()(GradientSync const& sync) { final_.synchronise(builder_, sync, pending_.steps()); }

    [[nodiscard]] Plan finish() && {
        builder_.microbatch(-1);
        final_.finish(builder_, pending_.steps());
        return std::move(builder_).finish();
    }

private:
    using Input = std::tuple<Direction, int, int, int>;
    struct Arrival {
        StepId step = 0;
        std::vector<StepId> after;
    };

    static Input key(TensorMessage const& message) {
        return {message.direction, message.pipe, message.stage, message.microbatch};
    }

    void wait_for_input(Work const& work) {
        if (work.pass == Pass::backward_weight) {
            return;
        }
        if (auto const found = arrivals_.find(key(input_of(work))); found != arrivals_.end()) {
            pending_.wait_for(found->second.step, found->second.after);
            arrivals_.erase(found);
        }
    }

    /// Wire message k of every tensor in batch k.
    std::vector<StepId> batches(Transfer const& transfer, std::vector<StepId> last) {
        std::size_t const count = wire_messages_of(params_, Direction::forward).size();
        for (std::size_t k = 0; k < count; ++k) {
            int const batch = next_batch_++;
            std::vector<StepId> steps;
            for (TensorMessage const& message : transfer) {
                steps.push_back(messages_.post(message, wire_messages_of(params_, message.direction)[k], batch, last));
            }
            last = std::move(steps);
        }
        return last;
    }

    std::vector<StepId> one_by_one(Transfer const& transfer, std::vector<StepId> last) {
        for (TensorMessage const& message : transfer) {
            for (WireMessage const& wire : wire_messages_of(params_, message.direction)) {
                last = {messages_.post(message, wire, -1, last)};
            }
        }
        return last;
    }

    std::vector<StepId> side_by_side(Transfer const& transfer, std::vector<StepId> const& before) {
        std::vector<StepId> ends;
        for (TensorMessage const& message : transfer) {
            ends.push_back(one_by_one({message}, before).front());
        }
        return ends;
    }

    std::vector<StepId> gather_all(Transfer const& transfer, std::vector<StepId> last) {
        if (!params_.gathers()) {
            return last;
        }
        std::vector<StepId> gathers;
        for (TensorMessage const& message : transfer) {
            if (message.incoming) {
                gathers.push_back(messages_.gather(message, last));
            }
        }
        return gathers.empty() ? last : gathers;
    }

    /// In separate mode: what a later computation waits for.
    void arrived(TensorMessage const& message, StepId step, std::vector<StepId> after) {
        if (message.incoming) {
            bool const gathered = params_.gathers();
            StepId const last = gathered ? messages_.gather(message, {step}) : step;
            arrivals_.insert_or_assign(key(message), Arrival{last, std::move(after)});
        }
    }

    Params const& params_;
    int rank_;  // in the chain
    PlanBuilder builder_;
    BufferBudget budget_;
    MessageSteps messages_;
    FinalCollectives final_;
    PendingSteps pending_;
    std::map<Input, Arrival> arrivals_;
    int next_batch_ = 0;
};

Plan iteration_plan(Params const& params, WorldShape const& world, Rank me, std::span<Action const> actions) {
    IterationBuilder assembler(params, world, me);
    for (Action const& action : actions) {
        std::visit(assembler, action);
    }
    return std::move(assembler).finish();
}

class PipelineP2p final : public FixedPattern {
public:
    PipelineP2p(Params const& params, WorldShape const& world) : params_(params), world_(world) {}

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> /*summed*/) const override {
        auto const makespan = static_cast<double>(ideal_makespan(params_.shape, params_.durations));
        auto const compute = static_cast<double>(compute_per_rank(params_.shape, params_.durations));
        bool const timed = params_.computes;
        double const unit = timed ? 1000 : 1;
        std::vector<Statistic> statistics{
            {timed ? "ideal_makespan_us" : "ideal_makespan_slots", makespan / unit},
            {"ideal_bubble_ratio", makespan > 0 ? (makespan - compute) / makespan : 0},
            {timed ? "compute_us" : "compute_slots", compute / unit},
            {"messages", static_cast<double>(tensor_messages(params_.shape)) * params_.stage_width()},
        };
        if (params_.product) {
            statistics.push_back({"gemm_rows", static_cast<double>(params_.product->rows)});
            statistics.push_back({"gemm_columns", static_cast<double>(params_.product->columns)});
            statistics.push_back({"gemm_inner", static_cast<double>(params_.product->inner)});
        }
        return statistics;
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        std::vector<OperationUse> uses{{OperationKind::send, false}, {OperationKind::recv, false}};
        if (params_.gathers()) {
            uses.push_back({OperationKind::all_gather, false});
        }
        if (params_.vocabulary > 0 || params_.gradient_bytes > 0 || (params_.loss && params_.dp > 1)) {
            uses.push_back({OperationKind::all_reduce, false});
        }
        if (params_.loss) {
            uses.push_back({OperationKind::broadcast, false});
        }
        return uses;
    }

private:
    [[nodiscard]] Plan plan_of(Rank me) const override {
        return iteration_plan(params_, world_, me, actions_of(params_.shape, me / params_.stage_width()));
    }

    Params params_;
    WorldShape world_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<PipelineP2p>(read_params(parameters, world), world);
}

constexpr std::string_view phases[] = {"forward", "backward", "meta", "tied_embedding", "gradient_sync", "compute"};
constexpr std::string_view compute_parameters[] = {"compute"};

}  // namespace

PatternType const& type() {
    static PatternType const pipeline_p2p{
        "pipeline_p2p",    "pipeline-parallel point-to-point schedules", parameter_infos(), phases, presets_json, make,
        compute_parameters};
    return pipeline_p2p;
}

}  // namespace dlmb::pipeline_p2p
