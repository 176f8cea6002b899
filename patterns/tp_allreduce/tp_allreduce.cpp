// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/tp_allreduce/tp_allreduce.hpp"

#include "patterns/collective_queue.hpp"
#include "patterns/tp_allreduce/params.hpp"
#include "patterns/tp_allreduce/sizes.hpp"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace dlmb::tp_allreduce {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

constexpr std::string_view blocks[] = {"attention", "mlp"};

/// The ranks of one stage run layers [first_layer, last_layer).
struct Stage {
    Stage(Params const& params, WorldShape const& world, Rank me)
        : number(me / (world.ranks / params.pp)), layers(params.layers / static_cast<std::uint32_t>(params.pp)),
          first_layer(static_cast<std::uint32_t>(number) * layers), is_first(number == 0),
          is_last(number == params.pp - 1) {}

    int number;
    std::uint32_t layers;
    std::uint32_t first_layer;
    bool is_first;
    bool is_last;
};

/// Labels: phase[.recompute][.attention|.mlp][.gather|.regather|.scatter][.layer]. Each step waits for the one before
/// it: in a transformer every collective needs the result of the last.
class IterationBuilder {
public:
    IterationBuilder(Params const& params, WorldShape const& world, Rank me)
        : params_(params), ranks_(static_cast<std::uint64_t>(world.ranks)), stage_(params, world, me),
          activation_(activation_bytes(params.tokens(), params.hidden, params.element)),
          queue_(me, consecutive_group(world, me, params.tp), {.memory_limit = params.memory_limit}) {}

    void train() {
        if (stage_.is_first || stage_.is_last) {
            queue_.broadcast("input_broadcast.shape", input_shape_bytes, Element::int64);
            queue_.broadcast("input_broadcast.tokens", input_bytes(params_.tokens(), ranks_), Element::int64);
        }
        embed();
        for (std::uint32_t layer = 0; layer < stage_.layers; ++layer) {
            forward("forward", layer);
        }
        if (stage_.is_last) {
            gather_for_logits();
            cross_entropy();
            logits_backward();
        }
        for (std::uint32_t layer = stage_.layers; layer-- > 0;) {
            if (params_.recompute) {
                forward("backward.recompute", layer);
            }
            backward(layer);
        }
        if (params_.scattered_edges() && stage_.is_first) {
            queue_.all_gather("embedding.gather", activation_, params_.element);
        }
        if (params_.sequence_parallel) {
            queue_.all_reduce(
                "norm_gradients",
                norm_gradient_bytes(stage_.layers, params_.hidden, params_.tensors_per_norm, params_.element),
                params_.element, Reduction::sum);
        }
    }

    void infer() {
        std::uint32_t const steps = params_.phase == Phase::decode ? params_.steps : 1;
        for (std::uint32_t step = 0; step < steps; ++step) {
            embed();
            for (std::uint32_t layer = 0; layer < stage_.layers; ++layer) {
                forward("forward", layer);
            }
            if (stage_.is_last) {
                gather_for_logits();
                sample();
            }
        }
    }

    [[nodiscard]] Plan finish() && { return std::move(queue_).finish(); }

private:
    /// Every rank holds the rows of a part of the vocabulary, so the looked-up activations are partial sums.
    void embed() {
        if (!stage_.is_first) {
            return;
        }
        if (params_.scattered_edges()) {
            queue_.reduce_scatter("embedding.scatter", activation_, params_.element);
        } else {
            queue_.all_reduce("embedding", activation_, params_.element, Reduction::sum);
        }
    }

    void forward(std::string_view pass, std::uint32_t layer) {
        for (std::string_view const block : blocks) {
            if (params_.sequence_parallel) {
                queue_.all_gather(label(pass, block, ".gather", layer), activation_, params_.element);
                queue_.reduce_scatter(label(pass, block, ".scatter", layer), activation_, params_.element);
            } else {
                queue_.all_reduce(label(pass, block, "", layer), activation_, params_.element, Reduction::sum);
            }
        }
    }

    /// Sequence parallel: the output's gradient is gathered; the saved input is gathered again for the weights'
    /// gradient.
    void backward(std::uint32_t layer) {
        for (std::string_view const block : {blocks[1], blocks[0]}) {
            if (params_.sequence_parallel) {
                queue_.all_gather(label("backward", block, ".gather", layer), activation_, params_.element);
                queue_.all_gather(label("backward", block, ".regather", layer), activation_, params_.element);
                queue_.reduce_scatter(label("backward", block, ".scatter", layer), activation_, params_.element);
            } else {
                queue_.all_reduce(label("backward", block, "", layer), activation_, params_.element, Reduction::sum);
            }
        }
    }

    void gather_for_logits() {
        if (params_.scattered_edges()) {
            queue_.all_gather("logits.gather", activation_, params_.element);
        }
    }

    void cross_entropy() {
        Bytes const bytes = cross_entropy_bytes(params_.tokens());
        queue_.all_reduce("cross_entropy.largest", bytes, Element::fp32, Reduction::max);
        queue_.all_reduce("cross_entropy.target", bytes, Element::fp32, Reduction::sum);
        queue_.all_reduce("cross_entropy.exponentials", bytes, Element::fp32, Reduction::sum);
    }

    void logits_backward() {
        if (params_.scattered_edges()) {
            queue_.all_gather("logits.backward.regather", activation_, params_.element);
            queue_.reduce_scatter("logits.backward.scatter", activation_, params_.element);
        } else {
            queue_.all_reduce("logits.backward", activation_, params_.element, Reduction::sum);
        }
    }

    void sample() {
        std::uint64_t const rows = params_.logit_rows();
        if (params_.logits == Logits::allgather) {
            std::uint64_t const columns = padded_vocabulary(params_.vocabulary, static_cast<std::uint64_t>(params_.tp));
            queue_.all_gather("logits", activation_bytes(rows, columns, params_.element), params_.element);
        } else if (params_.logits == Logits::argmax) {
            queue_.all_reduce("logits.argmax", argmax_bytes(rows), Element::int64, Reduction::max);
        }
    }

    [[nodiscard]] std::string label(std::string_view pass, std::string_view block, std::string_view operation,
                                    std::uint32_t layer) const {
        return fmt::format("{}.{}{}.{}", pass, block, operation, stage_.first_layer + layer);
    }

    Params const& params_;
    std::uint64_t ranks_;
    Stage stage_;
    Bytes activation_;
    CollectiveQueue queue_;
};

Plan iteration_plan(Params const& params, WorldShape const& world, Rank me) {
    IterationBuilder steps(params, world, me);
    if (params.phase == Phase::training) {
        steps.train();
    } else {
        steps.infer();
    }
    return std::move(steps).finish();
}

class TpAllreduce final : public FixedPattern {
public:
    TpAllreduce(Params const& params, WorldShape const& world) : params_(params), world_(world) {}

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        bool const training = params_.phase == Phase::training;
        std::vector<OperationUse> uses;
        if (params_.sequence_parallel) {
            uses = {{OperationKind::all_gather}, {OperationKind::reduce_scatter}};
        }
        if (!params_.scattered_edges() || training || params_.logits == Logits::argmax) {
            uses.push_back({OperationKind::all_reduce});
        }
        if (!params_.sequence_parallel && !training && params_.logits == Logits::allgather) {
            uses.push_back({OperationKind::all_gather});
        }
        if (training) {
            uses.push_back({OperationKind::broadcast});
        }
        return uses;
    }

private:
    [[nodiscard]] Plan plan_of(Rank me) const override { return iteration_plan(params_, world_, me); }

    Params params_;
    WorldShape world_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<TpAllreduce>(read_params(parameters, world), world);
}

constexpr std::string_view phases[] = {"input_broadcast", "embedding", "forward",       "cross_entropy",
                                       "logits",          "backward",  "norm_gradients"};

}  // namespace

PatternType const& type() {
    static PatternType const tp_allreduce{
        "tp_allreduce",    "collectives of tensor-parallel transformer layers, in training and inference",
        parameter_infos(), phases,
        presets_json,      make};
    return tp_allreduce;
}

}  // namespace dlmb::tp_allreduce
