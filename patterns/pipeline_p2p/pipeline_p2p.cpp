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
// Extra work (fill.hpp) is in the line of the computations and runs beside the messages of the pass before it. Without
// compute steps their place in the order is kept: a step waits for the messages that the computations before
// it would have waited for. The collectives that end an iteration: gradients of replicated stages, of a shared
// embedding, and the loss. Groups are in Megatron's rank order: tensor, context, data, pipeline, fastest first.
#include "patterns/pipeline_p2p/pipeline_p2p.hpp"

#include "common/formats/plan/builder.hpp"
#include "patterns/model_parameters.hpp"
#include "patterns/pipeline_p2p/fill.hpp"
#include "patterns/pipeline_p2p/makespan.hpp"
#include "patterns/pipeline_p2p/messages.hpp"
#include "patterns/pipeline_p2p/params.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
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

std::string compute_label(PipelineTask const& task) {
    constexpr char const* passes[] = {"compute.forward", "compute.backward", "compute.backward_input",
                                      "compute.backward_weight"};
    return task.size() > 1 ? "compute.forward_backward" : passes[static_cast<std::size_t>(task.front().pass)];
}

class PipelineSteps {
public:
    /// `fill_bytes`: of the extra work of one rank.
    PipelineSteps(Params const& params, Bytes fill_bytes, WorldShape const& world, Rank me)
        : params_(params), world_(world), me_(me), rank_(me / params.stage_width()), builder_(me),
          chain_(builder_.group(strided_group(world, me, params.shape.ranks, params.stage_width()))),
          tensor_ranks_(builder_.group(consecutive_group(world, me, params.tp))), budget_(params.memory_limit),
          gradients_fit_(budget_.take(2 * static_cast<Bytes>(stages_per_rank(params.shape)) * params.gradient_bytes)),
          embedding_fits_(budget_.take(2 * embedding_bytes())), fill_fits_(budget_.take(2 * fill_bytes)) {}

    void operator()(PipelineTask const& task) {
        for (StageWork const& work : task) {
            wait_for_input(work);
        }
        if (params_.computes) {
            builder_.microbatch(task.front().microbatch);
            StepId const step =
                builder_.compute(params_.durations.of(task), compute_label(task), pending_.steps(), params_.product);
            pending_.move_to({step});
            line_ = {step};
        }
    }

    /// Extra work, which the next computation waits for.
    void fill(FillItem const& item) {
        builder_.microbatch(-1);
        StepId const step = fill_step(item);
        pending_.wait_for(step, line_);
        line_ = {step};
    }

    void operator()(TensorTransfer const& transfer) {
        TensorTransfer const ordered = in_order_of_issue(params_, rank_, transfer);
        std::vector<StepId> last = pending_.steps();
        switch (params_.mode) {
        case MessageMode::separate:
            for (TensorMessage const& message : ordered) {
                WireMessage const tensor{WireMessageKind::data, params_.message_bytes()};
                StepId const step = post(message, tensor, -1, pending_.steps());
                arrived(message, step, pending_.steps());
            }
            return;
        case MessageMode::batched:
        case MessageMode::handshake_data:
            last = batches(ordered, std::move(last));
            break;
        case MessageMode::meta_data:
            last = stages_per_rank(params_.shape) == 1 ? one_by_one(ordered, std::move(last))
                                                       : side_by_side(ordered, last);
            break;
        }
        pending_.move_to(gather_all(ordered, std::move(last)));
    }

    /// A barrier (AllReduce of one int32) and the AllReduce, as Chimera's repository has them. One after the other on a
    /// rank; no pass waits for them.
    void operator()(GradientSync const& sync) {
        if (params_.gradient_bytes == 0) {
            return;
        }
        std::set<int> places;
        for (int pipe = 0; pipe < pipes_of(params_.shape); ++pipe) {
            places.insert(rank_of(params_.shape, pipe, sync.stage));
        }
        // All ranks, data and context parallel ones too, that hold the same part of a stage at one of these places.
        Group replicas;
        for (int const place : places) {
            for (int copy = 0; copy < params_.cp * params_.dp; ++copy) {
                replicas.members.push_back(place * params_.stage_width() + copy * params_.tp + me_ % params_.tp);
            }
        }
        GroupId const group = builder_.group(std::move(replicas));
        builder_.microbatch(-1);
        builder_.share_buffers(!gradients_fit_);
        std::vector<StepId> waits = pending_.steps();
        if (last_sync_) {
            waits.push_back(*last_sync_);
        }
        StepId const barrier =
            builder_.all_reduce(group, 4, Element::int32, Reduction::sum,
                                fmt::format("gradient_sync.barrier.{}", sync.stage), std::move(waits));
        last_sync_ = builder_.all_reduce(group, params_.gradient_bytes, Element::fp32, Reduction::sum,
                                         fmt::format("gradient_sync.{}", sync.stage), {barrier});
    }

    [[nodiscard]] Plan finish() && {
        builder_.microbatch(-1);
        reduce_tied_embedding();
        share_loss();
        return std::move(builder_).finish();
    }

private:
    using TensorKey = std::tuple<Direction, int, int, int>;
    struct ReceivedTensor {
        StepId step = 0;
        std::vector<StepId> after;
    };

    static TensorKey key(TensorMessage const& message) {
        return {message.direction, message.pipe, message.stage, message.microbatch};
    }

    /// A Send or a Recv. `batch` as in the plan.
    StepId post(TensorMessage const& message, WireMessage const& wire, int batch, std::vector<StepId> after) {
        settings(message);
        Rank const peer = rank_of(params_.shape, message.pipe, other_stage(params_.shape, message).value());
        int const channel = channel_of(message, wire.kind);
        std::string label = label_of(params_, message, wire.kind);
        return message.incoming
                   ? builder_.recv(chain_, peer, wire.bytes, channel, batch, std::move(label), std::move(after))
                   : builder_.send(chain_, peer, wire.bytes, channel, batch, std::move(label), std::move(after));
    }

    StepId fill_step(FillItem const& item) {
        std::string const label = fmt::format("fill.{}", name_of(item.operation));
        if (item.operation == OperationKind::compute) {
            return builder_.compute(item.duration, label, line_, params_.product);
        }
        builder_.share_buffers(!fill_fits_);
        GroupId const copies = builder_.group(strided_group(world_, me_, params_.cp * params_.dp, params_.tp));
        return builder_.collective({item.operation, copies, 0, {}, {}, item.bytes, Element::fp32}, label, line_);
    }

    /// The AllGather of a received tensor over the tensor-parallel ranks.
    StepId gather(TensorMessage const& message, std::vector<StepId> after) {
        settings(message);
        return builder_.all_gather(tensor_ranks_, params_.tensor_bytes(), params_.element,
                                   gather_label_of(params_, message), std::move(after));
    }

    /// Micro-batches take their part of the budget in ascending order, so that all ranks agree on who shares buffers.
    void settings(TensorMessage const& message) {
        builder_.microbatch(message.microbatch);
        while (static_cast<int>(fits_.size()) <= message.microbatch) {
            fits_.push_back(budget_.take(buffer_bytes_per_microbatch(params_)));
        }
        builder_.share_buffers(!fits_[static_cast<std::size_t>(message.microbatch)]);
    }

    void wait_for_input(StageWork const& work) {
        if (work.pass == Pass::backward_weight) {
            return;
        }
        if (auto const found = arrivals_.find(key(input_of(work))); found != arrivals_.end()) {
            pending_.wait_for(found->second.step, found->second.after);
            arrivals_.erase(found);
        }
    }

    /// Wire message k of every tensor in batch k.
    std::vector<StepId> batches(TensorTransfer const& transfer, std::vector<StepId> last) {
        std::size_t const count = wire_messages_of(params_, Direction::forward).size();
        for (std::size_t k = 0; k < count; ++k) {
            int const batch = next_batch_++;
            std::vector<StepId> steps;
            for (TensorMessage const& message : transfer) {
                steps.push_back(post(message, wire_messages_of(params_, message.direction)[k], batch, last));
            }
            last = std::move(steps);
        }
        return last;
    }

    std::vector<StepId> one_by_one(TensorTransfer const& transfer, std::vector<StepId> last) {
        for (TensorMessage const& message : transfer) {
            for (WireMessage const& wire : wire_messages_of(params_, message.direction)) {
                last = {post(message, wire, -1, last)};
            }
        }
        return last;
    }

    std::vector<StepId> side_by_side(TensorTransfer const& transfer, std::vector<StepId> const& before) {
        std::vector<StepId> ends;
        for (TensorMessage const& message : transfer) {
            ends.push_back(one_by_one({message}, before).front());
        }
        return ends;
    }

    std::vector<StepId> gather_all(TensorTransfer const& transfer, std::vector<StepId> last) {
        if (!params_.gathers()) {
            return last;
        }
        std::vector<StepId> gathers;
        for (TensorMessage const& message : transfer) {
            if (message.incoming) {
                gathers.push_back(gather(message, last));
            }
        }
        return gathers.empty() ? last : gathers;
    }

    /// In separate mode: what a later computation waits for.
    void arrived(TensorMessage const& message, StepId step, std::vector<StepId> after) {
        if (message.incoming) {
            bool const gathered = params_.gathers();
            StepId const last = gathered ? gather(message, {step}) : step;
            arrivals_.insert_or_assign(key(message), ReceivedTensor{last, std::move(after)});
        }
    }

    /// Gradients of the word embedding, V / tp rows of h in fp32.
    [[nodiscard]] Bytes embedding_bytes() const {
        return params_.vocabulary / static_cast<Bytes>(params_.tp) * params_.hidden * 4;
    }

    /// Over the ranks of the chain that hold the first or the last stage.
    void reduce_tied_embedding() {
        std::set<int> places;
        for (int pipe = 0; pipe < pipes_of(params_.shape); ++pipe) {
            places.insert(rank_of(params_.shape, pipe, 0));
            places.insert(rank_of(params_.shape, pipe, stages_per_pipe(params_.shape) - 1));
        }
        if (params_.vocabulary == 0 || places.size() < 2 || places.count(rank_) == 0) {
            return;
        }
        Group ends;
        for (int const place : places) {
            ends.members.push_back(place * params_.stage_width() + me_ % params_.stage_width());
        }
        builder_.share_buffers(!embedding_fits_);
        pending_.move_to({builder_.all_reduce(builder_.group(std::move(ends)), embedding_bytes(), Element::fp32,
                                              Reduction::sum, "tied_embedding", pending_.steps())});
    }

    /// DeepSpeed _aggregate_total_loss: two fp32 scalars from the last stage; one before that over data-parallel ranks.
    void share_loss() {
        if (!params_.loss) {
            return;
        }
        int const last = rank_of(params_.shape, 0, stages_per_pipe(params_.shape) - 1);
        builder_.share_buffers(false);
        if (params_.dp > 1 && rank_ == last) {
            GroupId const data = builder_.group(strided_group(world_, me_, params_.dp, params_.tp * params_.cp));
            pending_.move_to(
                {builder_.all_reduce(data, 4, Element::fp32, Reduction::sum, "meta.loss_mean", pending_.steps())});
        }
        if (params_.shape.ranks > 1) {
            builder_.broadcast(chain_, last, 8, Element::fp32, "meta.loss", pending_.steps());
        }
    }

    Params const& params_;
    WorldShape world_;
    Rank me_;
    int rank_;  // in the chain
    PlanBuilder builder_;
    GroupId chain_;  // one rank of every stage: a rank's place in it is its place in the chain
    GroupId tensor_ranks_;
    BufferBudget budget_;  // of which the large final collectives take their part first, alike on all ranks
    bool gradients_fit_;
    bool embedding_fits_;
    bool fill_fits_;
    std::vector<bool> fits_;  // by micro-batch
    std::optional<StepId> last_sync_;
    PendingSteps pending_;
    std::vector<StepId> line_;  // the last computation or extra work; empty: none yet
    std::map<TensorKey, ReceivedTensor> arrivals_;
    int next_batch_ = 0;
};

Plan iteration_plan(Params const& params, Filling const& filling, WorldShape const& world, Rank me) {
    int const rank = me / params.stage_width();
    PipelineSteps steps(params, filling.bytes, world, me);
    std::vector<PlacedFill> const placed =
        params.fill.empty() ? std::vector<PlacedFill>{} : filling.ranks[static_cast<std::size_t>(rank)].placed;
    auto next = placed.begin();
    auto const fill_before = [&](std::size_t task) {
        for (; next != placed.end() && next->before_task <= task; ++next) {
            steps.fill(params.fill[next->item]);
        }
    };
    std::size_t task = 0;
    for (ScheduleAction const& action : actions_of(params.shape, rank)) {
        if (std::holds_alternative<PipelineTask>(action)) {
            fill_before(task++);
        }
        std::visit(steps, action);
    }
    fill_before(task);
    return std::move(steps).finish();
}

std::vector<OperationUse> operations_of(Params const& params) {
    std::vector<OperationUse> uses{{OperationKind::send}, {OperationKind::recv}};
    auto const fills_by = [&](OperationKind operation) {
        return std::any_of(params.fill.begin(), params.fill.end(),
                           [&](FillItem const& item) { return item.operation == operation; });
    };
    if (params.gathers() || fills_by(OperationKind::all_gather)) {
        uses.push_back({OperationKind::all_gather, true});
    }
    if (fills_by(OperationKind::reduce_scatter)) {
        uses.push_back({OperationKind::reduce_scatter, true});
    }
    if (params.vocabulary > 0 || params.gradient_bytes > 0 || (params.loss && params.dp > 1) ||
        fills_by(OperationKind::all_reduce)) {
        uses.push_back({OperationKind::all_reduce, true});
    }
    if (params.loss) {
        uses.push_back({OperationKind::broadcast, true});
    }
    return uses;
}

Parameters resolved_of(ScheduleShape const& shape) {
    Parameters resolved{{"pp", fmt::format("{}", shape.ranks)}};
    if (shape.schedule == PipelineSchedule::interleaved) {
        resolved.emplace("microbatch-group", fmt::format("{}", shape.microbatch_group));
    }
    return resolved;
}

class PipelineP2p final : public FixedPattern {
public:
    PipelineP2p(Params const& params, std::shared_ptr<Filling const> const& filling, WorldShape const& world)
        : FixedPattern(
              operations_of(params),
              [params, filling, world](Rank me) { return iteration_plan(params, *filling, world, me); },
              resolved_of(params.shape)),
          params_(params), filling_(filling) {}

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> /*summed*/) const override {
        auto const makespan = static_cast<double>(ideal_timetable(params_.shape, params_.durations).makespan);
        auto const compute = static_cast<double>(compute_per_rank(params_.shape, params_.durations));
        bool const timed = params_.computes;
        double const unit = timed ? 1000 : 1;
        std::vector<Statistic> statistics{
            {timed ? "ideal_makespan_us" : "ideal_makespan_slots", makespan / unit},
            {"ideal_bubble_ratio", makespan > 0 ? (makespan - compute) / makespan : 0},
            {timed ? "compute_us" : "compute_slots", compute / unit},
            {"messages", static_cast<double>(tensor_messages(params_.shape)) * params_.stage_width()},
        };
        if (!params_.fill.empty()) {
            double const ranks = unit * params_.shape.ranks;
            statistics.push_back({"bubble_us", static_cast<double>(filling_->bubble) / ranks});
            statistics.push_back({"fill_us", static_cast<double>(filling_->work) / ranks});
            statistics.push_back({"bubble_utilisation", filling_->utilisation()});
            statistics.push_back({"filled_makespan_us", static_cast<double>(filling_->filled_makespan) / unit});
        }
        if (params_.product) {
            statistics.push_back({"gemm_rows", static_cast<double>(params_.product->rows)});
            statistics.push_back({"gemm_columns", static_cast<double>(params_.product->columns)});
            statistics.push_back({"gemm_inner", static_cast<double>(params_.product->inner)});
        }
        return statistics;
    }

private:
    Params params_;
    std::shared_ptr<Filling const> filling_;  // of the chain, the same for all ranks
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    Params const params = read_params(parameters, world);
    auto const filling = std::make_shared<Filling const>(
        params.fill.empty() ? Filling{}
                            : fill_bubbles(params.shape, params.durations, params.fill, params.fill_reserve));
    return std::make_unique<PipelineP2p>(params, filling, world);
}

constexpr std::string_view phases[] = {"forward",       "backward", "meta", "tied_embedding",
                                       "gradient_sync", "compute",  "fill"};
constexpr std::string_view compute_parameters[] = {"compute"};

/// Stages share an embedding only where the model's input and output do.
ModelDerived of_model(ModelShape const& model, Parallelism const& parallel) {
    ModelParameters parameters(model, parallel, {"tp", "pp", "cp"});
    parameters.needed("hidden", model.hidden, "its hidden size")
        .optional("vocabulary", model.tied_embeddings ? padded_vocabulary(model.vocabulary, parallel.tp) : 0)
        .optional("pp", parallel.pp)
        .optional("tp", parallel.tp)
        .optional("cp", parallel.cp)
        .element();
    return parameters.derived();
}

}  // namespace

PatternType const& type() {
    static PatternType const pipeline_p2p{"pipeline_p2p",    "pipeline-parallel point-to-point schedules",
                                          parameter_infos(), phases,
                                          presets_json,      make,
                                          of_model,          compute_parameters};
    return pipeline_p2p;
}

}  // namespace dlmb::pipeline_p2p
