// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/tp_allreduce/tp_allreduce.hpp"

#include "common/base/error.hpp"
#include "patterns/collective_queue.hpp"
#include "patterns/model_parameters.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

#include <limits>
#include <string>
#include <utility>

namespace dlmb::tp_allreduce {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

// Together below 2^62 bytes of logits or activations.
constexpr std::uint64_t max_tokens = std::uint64_t{1} << 32;
constexpr std::uint64_t max_width = std::uint64_t{1} << 24;
constexpr std::uint64_t max_layers = 65536;
constexpr std::uint64_t max_steps = 65536;

constexpr ParameterInfo infos[] = {
    {"phase", "training (forward and backward of one micro-batch), prefill, decode", "training"},
    {"batch", "sequences of one micro-batch or inference batch", "1"},
    {"sequence", "tokens of one sequence (training, prefill)", "2048"},
    {"hidden", "values in one token's activation", "4096"},
    {"layers", "layers of the model", "32"},
    {"vocabulary", "entries of the vocabulary (logits of prefill and decode)", "32000"},
    {"tp", "tensor-parallel ranks; 0: all ranks of a stage", "0"},
    {"pp", "pipeline stages that the layers are dealt over; each rank runs its own stage's share", "1"},
    {"sequence-parallel", "on: allgather and reduce_scatter instead of allreduce", "off"},
    {"quantize",
     "sequence-parallel on: format in which activations are gathered: none, mxfp8, int4:32:fp32 ... (README of the "
     "pattern)",
     "none"},
    {"edges", "embedding and logits with sequence-parallel on: allreduce (as AICB), scatter (as Megatron-LM)",
     "allreduce"},
    {"recompute", "training: none, full (the forward collectives of a layer run again before its backward)", "none"},
    {"norm", "gradients reduced with sequence-parallel on: layernorm (weight and bias), rmsnorm (weight)", "layernorm"},
    {"element", "type of activations: bf16, fp16, fp32", "bf16"},
    {"gradient-element", "type of norm_gradients: same, bf16, fp16, fp32 (as Megatron-LM with --bf16)", "same"},
    {"logits", "prefill, decode: allgather, argmax (allreduce of the best per row), none", "allgather"},
    pack_parameter,
    {"drafts", "decode: drafted tokens that one step checks; K multiply the batch by K + 1", "0"},
    {"steps", "decode: tokens generated in one iteration", "1"},
    memory_limit_parameter,
};

enum class Phase { training, prefill, decode };
/// Which form embedding and logits take under sequence parallelism; README.md explains both.
enum class Edges { allreduce, scatter };
enum class Logits { none, allgather, argmax };

struct Params {
    Phase phase = Phase::training;
    std::uint64_t batch = 1;     // sequences
    std::uint64_t sequence = 1;  // tokens of one sequence; not read by decode
    std::uint64_t drafts = 0;    // decode: tokens drafted and checked per step, besides the one that is certain
    std::uint32_t steps = 1;     // decode: tokens generated in one iteration
    std::uint64_t hidden = 1;
    std::uint64_t vocabulary = 1;
    std::uint32_t layers = 1;  // of the whole model
    int tp = 1;                // ranks of a group
    int pp = 1;                // pipeline stages
    bool sequence_parallel = false;
    std::optional<BlockFormat> packing;  // of gathered activations
    Edges edges = Edges::allreduce;
    bool recompute = false;
    std::uint64_t tensors_per_norm = 2;
    Logits logits = Logits::allgather;
    Pack pack = Pack::none;  // who puts gathered logits in order
    Element element = Element::bf16;
    Element gradient_element = Element::bf16;
    Bytes memory_limit = 0;

    /// Rows of one activation.
    [[nodiscard]] std::uint64_t tokens() const {
        return phase == Phase::decode ? batch * (drafts + 1) : batch * sequence;
    }
    /// Rows of which logits are needed: every checked token, or the last of each sequence.
    [[nodiscard]] std::uint64_t logit_rows() const { return phase == Phase::decode ? tokens() : batch; }
    [[nodiscard]] bool scattered_edges() const { return sequence_parallel && edges == Edges::scatter; }
    [[nodiscard]] bool gathers_logits() const { return phase != Phase::training && logits == Logits::allgather; }
    /// Padded so that every rank holds equally many.
    [[nodiscard]] std::uint64_t padded_words() const {
        auto const ranks = static_cast<std::uint64_t>(tp);
        return (vocabulary + ranks - 1) / ranks * ranks;
    }
};

void read_sizes(Parameters const& parameters, Params& params) {
    params.phase = read_enum<Phase>(parameters, "phase", {"training", "prefill", "decode"});
    params.batch = read_unsigned(parameters, "batch", 1, max_width);
    params.sequence = read_unsigned(parameters, "sequence", 1, max_width);
    params.drafts = read_unsigned(parameters, "drafts", 0, 255);
    params.steps = static_cast<std::uint32_t>(read_unsigned(parameters, "steps", 1, max_steps));
    params.hidden = read_unsigned(parameters, "hidden", 1, max_width);
    params.vocabulary = read_unsigned(parameters, "vocabulary", 1, max_width);
    params.layers = static_cast<std::uint32_t>(read_unsigned(parameters, "layers", 1, max_layers));
    if (params.tokens() > max_tokens) {
        throw UsageError(fmt::format("--batch {} and --sequence {} make {} tokens; at most {} are possible",
                                     params.batch, params.sequence, params.tokens(), max_tokens));
    }
}

/// Stages first, so that --tp 0 means all ranks of one.
void read_layout(Parameters const& parameters, WorldShape const& world, Params& params) {
    auto const ranks = static_cast<std::uint64_t>(world.ranks);
    std::uint64_t const pp = read_unsigned(parameters, "pp", 1, max_layers);
    if (ranks % pp != 0) {
        throw UsageError(fmt::format("--pp {}: does not divide {} ranks", pp, ranks));
    }
    if (params.layers % pp != 0) {
        throw UsageError(fmt::format("--pp {}: does not divide --layers {}", pp, params.layers));
    }
    std::uint64_t const stage = ranks / pp;
    std::uint64_t const asked = read_unsigned(parameters, "tp", 0, std::numeric_limits<int>::max());
    std::uint64_t const tp = asked == 0 ? stage : asked;
    if (stage % tp != 0) {
        throw UsageError(pp == 1 ? fmt::format("--tp {}: does not divide {} ranks", tp, ranks)
                                 : fmt::format("--tp {}: does not divide the {} ranks of a stage ({} ranks, --pp {})",
                                               tp, stage, ranks, pp));
    }
    params.pp = static_cast<int>(pp);
    params.tp = static_cast<int>(tp);
}

/// A reduce-scatter gives every rank whole tokens.
void check_scatter(Params const& params) {
    if (!params.sequence_parallel) {
        return;
    }
    auto const tp = static_cast<std::uint64_t>(params.tp);
    if (params.phase == Phase::training && params.sequence % tp != 0) {
        throw UsageError(
            fmt::format("--sequence-parallel on: --sequence {} does not divide over {} tensor-parallel ranks",
                        params.sequence, tp));
    }
    if (params.tokens() % tp != 0) {
        throw UsageError(fmt::format("--sequence-parallel on: {} tokens do not divide over {} tensor-parallel ranks",
                                     params.tokens(), tp));
    }
}

/// A row is what one rank has of the logits of one token.
void read_row_order(Parameters const& parameters, Params& params) {
    params.pack = read_pack(parameters);
    if (params.pack != Pack::none && !params.gathers_logits()) {
        throw UsageError(fmt::format("--pack {}: only gathered logits are put in another order (--phase prefill or "
                                     "decode with --logits allgather); all else is gathered by tokens, as it lies",
                                     name_of(params.pack)));
    }
    auto const tp = static_cast<std::uint64_t>(params.tp);
    require_movable_rows(
        params.pack, params.padded_words() / tp * size_of(params.element),
        fmt::format("--vocabulary {} over {} ranks, in {}", params.vocabulary, tp, name_of(params.element)));
}

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    read_sizes(parameters, params);
    read_layout(parameters, world, params);
    params.sequence_parallel = read_switch(parameters, "sequence-parallel");
    params.packing = read_packing(parameters, "quantize");
    if (params.packing && !params.sequence_parallel) {
        throw UsageError(fmt::format("--quantize {}: activations are gathered with --sequence-parallel on only",
                                     to_string(*params.packing)));
    }
    params.edges = read_enum<Edges>(parameters, "edges", {"allreduce", "scatter"});
    params.recompute = read_choice(parameters, "recompute", {"none", "full"}) == 1;
    params.tensors_per_norm = read_choice(parameters, "norm", {"layernorm", "rmsnorm"}) == 1 ? 1 : 2;
    params.element = read_element(parameters, "element", training_elements);
    params.gradient_element = read_gradient_element(parameters, params.element);
    params.logits = read_enum<Logits>(parameters, "logits", {"none", "allgather", "argmax"});
    params.memory_limit = read_memory_limit(parameters);
    read_row_order(parameters, params);
    check_scatter(params);
    return params;
}

constexpr std::string_view blocks[] = {"attention", "mlp"};

/// Labels: [pack.|unpack.]phase[.recompute][.attention|.mlp][.gather|.regather|.scatter][.layer]. Each step waits for
/// the one before it: in a transformer every collective needs the result of the last.
class LayerSteps {
public:
    LayerSteps(Params const& params, WorldShape const& world, Rank me)
        : params_(params), ranks_(static_cast<std::uint64_t>(world.ranks)),
          layers_(params.layers / static_cast<std::uint32_t>(params.pp)), stage_(me / (world.ranks / params.pp)),
          is_first_(stage_ == 0), is_last_(stage_ == params.pp - 1), activation_(params.tokens() * params.hidden),
          queue_(me, consecutive_group(world, me, params.tp), {.memory_limit = params.memory_limit}) {}

    void train() {
        if (is_first_ || is_last_) {
            // Five numbers that announce the shapes of the input (Megatron-LM, core/tensor_parallel/data.py), then one
            // per token, and one per rank of the launch, which AICB adds (generate_megatron_workload.py).
            queue_.broadcast("input_broadcast.shape", 5, Element::int64);
            queue_.broadcast("input_broadcast.tokens", params_.tokens() + ranks_, Element::int64);
        }
        embed();
        for (std::uint32_t layer = 0; layer < layers_; ++layer) {
            forward("forward", layer);
        }
        if (is_last_) {
            gather_for_logits();
            cross_entropy();
            logits_backward();
        }
        for (std::uint32_t layer = layers_; layer-- > 0;) {
            if (params_.recompute) {
                forward("backward.recompute", layer);
            }
            backward(layer);
        }
        if (params_.scattered_edges() && is_first_) {
            queue_.all_gather("embedding.gather", activation_, params_.element, params_.packing);
        }
        if (params_.sequence_parallel) {
            queue_.all_reduce("norm_gradients", partial_gradients(), params_.gradient_element);
        }
    }

    void infer() {
        std::uint32_t const steps = params_.phase == Phase::decode ? params_.steps : 1;
        for (std::uint32_t step = 0; step < steps; ++step) {
            embed();
            for (std::uint32_t layer = 0; layer < layers_; ++layer) {
                forward("forward", layer);
            }
            if (is_last_) {
                gather_for_logits();
                sample();
            }
        }
    }

    [[nodiscard]] Plan finish() && { return std::move(queue_).finish(); }

private:
    /// Elements whose gradients sequence parallelism leaves partial (Megatron-LM,
    /// core/distributed/finalize_model_grads.py): two norms per layer; with the edges of Megatron-LM also the final
    /// norm and, where norms have biases, those of the two row-parallel matrices of a layer. AICB's workloads leave
    /// them out.
    [[nodiscard]] std::uint64_t partial_gradients() const {
        std::uint64_t tensors = std::uint64_t{2} * layers_ * params_.tensors_per_norm;
        if (params_.scattered_edges()) {
            tensors += is_last_ ? params_.tensors_per_norm : 0U;
            tensors += params_.tensors_per_norm > 1 ? std::uint64_t{2} * layers_ : 0U;
        }
        return tensors * params_.hidden;
    }

    /// Every rank holds the rows of a part of the vocabulary, so the looked-up activations are partial sums.
    void embed() {
        if (!is_first_) {
            return;
        }
        if (params_.scattered_edges()) {
            queue_.reduce_scatter("embedding.scatter", activation_, params_.element);
        } else {
            queue_.all_reduce("embedding", activation_, params_.element);
        }
    }

    void forward(std::string_view pass, std::uint32_t layer) {
        for (std::string_view const block : blocks) {
            if (params_.sequence_parallel) {
                queue_.all_gather(label(pass, block, ".gather", layer), activation_, params_.element, params_.packing);
                queue_.reduce_scatter(label(pass, block, ".scatter", layer), activation_, params_.element);
            } else {
                queue_.all_reduce(label(pass, block, "", layer), activation_, params_.element);
            }
        }
    }

    /// Sequence parallel: the output's gradient is gathered; the saved input is gathered again for the weights'
    /// gradient.
    void backward(std::uint32_t layer) {
        for (std::string_view const block : {blocks[1], blocks[0]}) {
            if (params_.sequence_parallel) {
                queue_.all_gather(label("backward", block, ".gather", layer), activation_, params_.element,
                                  params_.packing);
                queue_.all_gather(label("backward", block, ".regather", layer), activation_, params_.element,
                                  params_.packing);
                queue_.reduce_scatter(label("backward", block, ".scatter", layer), activation_, params_.element);
            } else {
                queue_.all_reduce(label("backward", block, "", layer), activation_, params_.element);
            }
        }
    }

    void gather_for_logits() {
        if (params_.scattered_edges()) {
            queue_.all_gather("logits.gather", activation_, params_.element, params_.packing);
        }
    }

    /// One value per token (Megatron-LM, core/tensor_parallel/cross_entropy.py).
    void cross_entropy() {
        queue_.all_reduce("cross_entropy.largest", params_.tokens(), Element::fp32, Reduction::max);
        queue_.all_reduce("cross_entropy.target", params_.tokens(), Element::fp32);
        queue_.all_reduce("cross_entropy.exponentials", params_.tokens(), Element::fp32);
    }

    void logits_backward() {
        if (params_.scattered_edges()) {
            queue_.all_gather("logits.backward.regather", activation_, params_.element, params_.packing);
            queue_.reduce_scatter("logits.backward.scatter", activation_, params_.element);
        } else {
            queue_.all_reduce("logits.backward", activation_, params_.element);
        }
    }

    /// Gathers logits over the vocabulary; or greedy sampling without them: one packed (value, index) int64 per row.
    void sample() {
        if (params_.logits == Logits::allgather) {
            queue_.all_gather_columns("logits", params_.logit_rows(), params_.padded_words(), params_.element,
                                      params_.pack);
        } else if (params_.logits == Logits::argmax) {
            queue_.all_reduce("logits.argmax", params_.logit_rows(), Element::int64, Reduction::max);
        }
    }

    [[nodiscard]] std::string label(std::string_view pass, std::string_view block, std::string_view operation,
                                    std::uint32_t layer) const {
        return fmt::format("{}.{}{}.{}", pass, block, operation, static_cast<std::uint32_t>(stage_) * layers_ + layer);
    }

    Params const& params_;
    std::uint64_t ranks_;
    std::uint32_t layers_;  // of the own stage
    int stage_;
    bool is_first_;
    bool is_last_;
    /// Elements of one [tokens, hidden], whole: what every collective of a layer works on (Megatron-LM, arXiv
    /// 1909.08053, section 3; arXiv 2205.05198, section 4.2.2 for the all-gather and reduce-scatter form).
    std::uint64_t activation_;
    CollectiveQueue queue_;
};

Plan iteration_plan(Params const& params, WorldShape const& world, Rank me) {
    LayerSteps steps(params, world, me);
    if (params.phase == Phase::training) {
        steps.train();
    } else {
        steps.infer();
    }
    return std::move(steps).finish();
}

std::vector<OperationUse> operations_of(Params const& params) {
    bool const training = params.phase == Phase::training;
    std::vector<OperationUse> uses;
    if (params.pack == Pack::fused) {
        uses = {{OperationKind::exchange, false, true}};  // which few methods can do: first
    }
    if (params.sequence_parallel) {
        uses.insert(uses.end(), {{OperationKind::all_gather, true}, {OperationKind::reduce_scatter, true}});
    }
    if (!params.scattered_edges() || training || params.logits == Logits::argmax) {
        uses.push_back({OperationKind::all_reduce, true});
    }
    if (!params.sequence_parallel && params.gathers_logits() && params.pack != Pack::fused) {
        uses.push_back({OperationKind::all_gather, true});
    }
    if (training) {
        uses.push_back({OperationKind::broadcast, true});
    }
    return uses;
}

std::vector<std::string> remarks_of(Params const& params) {
    if (params.hidden % static_cast<std::uint64_t>(params.tp) == 0) {
        return {};
    }
    return {fmt::format("--hidden {} does not divide over {} tensor-parallel ranks: frameworks refuse such weights",
                        params.hidden, params.tp)};
}

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    Params const params = read_params(parameters, world);
    return std::make_unique<FixedPattern>(
        operations_of(params), [params, world](Rank me) { return iteration_plan(params, world, me); },
        Parameters{{"tp", fmt::format("{}", params.tp)}}, remarks_of(params));
}

constexpr std::string_view phases[] = {"input_broadcast", "embedding", "pack",     "forward",       "unpack",
                                       "cross_entropy",   "logits",    "backward", "norm_gradients"};

/// The vocabulary as it is padded for the ranks that divide it.
ModelDerived of_model(ModelShape const& model, Parallelism const& parallel) {
    ModelParameters parameters(model, parallel, {"tp", "pp"});
    parameters.needed("hidden", model.hidden, "its hidden size")
        .computed("layers",
                  [&] {
                      if (model.layers == 0) {
                          throw UsageError(fmt::format("{}: does not tell its number of layers; give --layers as well",
                                                       model.source));
                      }
                      if (model.other_mixers) {
                          throw UsageError(fmt::format("{}: some layers have no attention, or a state space beside it; "
                                                       "give --layers: half the number of mixers and mlps",
                                                       model.source));
                      }
                      return model.layers;
                  })
        .needed("vocabulary", padded_vocabulary(model.vocabulary, parallel.tp), "its vocabulary")
        .optional("tp", parallel.tp)
        .optional("pp", parallel.pp)
        .text("norm", model.rms_norm ? "rmsnorm" : "layernorm")
        .element();
    return parameters.derived();
}

}  // namespace

PatternType const& type() {
    static PatternType const tp_allreduce{
        "tp_allreduce", "collectives of tensor-parallel transformer layers, in training and inference",
        infos,          phases,
        presets_json,   make,
        of_model};
    return tp_allreduce;
}

}  // namespace dlmb::tp_allreduce
