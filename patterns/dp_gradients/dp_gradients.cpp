// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/dp_gradients.hpp"

#include "common/base/error.hpp"
#include "patterns/collective_queue.hpp"
#include "patterns/counts.hpp"
#include "patterns/dp_gradients/buckets.hpp"
#include "patterns/readers.hpp"
#include "patterns/trained_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace dlmb::dp_gradients {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

constexpr int max_microbatches = 65536;
constexpr int max_in_flight = 8;  // the shared buffers of a plan, which steps in flight must not overwrite
constexpr std::uint64_t max_gathers = std::uint64_t{1} << 20;
constexpr std::uint64_t deepspeed_bucket_elements = 500'000'000;  // its documented default

constexpr ParameterInfo infos[] = {
    {"model",
     "whose parameters: resnet-50, gpt-19m ... gpt-175b, llama-7b, llama-13b, llama-70b, llama3-8b, llama3-70b; flat: "
     "one tensor of --parameters; transformer:layers=L:hidden=H and any of :mlp=M :queries=Q :key-values=K "
     ":positions=N :bias=1 :vocabulary=V :tied=1 :tp=T :pp=P; or the config.json of a model",
     "gpt-125m"},
    {"parameters", "elements of the model 'flat'", "1000000"},
    {"scheme", "ddp, megatron, zero1, zero2, zero3, fsdp", "ddp"},
    {"form", "gradients of megatron, zero1, zero2: allreduce, reduce_scatter", "allreduce"},
    {"dp", "data-parallel ranks; 0: all", "0"},
    {"stride", "ranks from one member of a group to the next (the tensor-parallel size; it does not divide --model)",
     "1"},
    {"element", "type of parameters: bf16, fp16, fp32", "bf16"},
    {"gradient-element", "type of gradients on their way: same, bf16, fp16, fp32", "same"},
    {"bucket-bytes", "ddp: a bucket is closed at this size", "25M"},
    {"first-bucket-bytes", "ddp: the same for the first bucket", "1M"},
    {"bucket-elements",
     "megatron, zero1, zero2, zero3: gradients per bucket; 0: the framework's (40e6 or 1e6 per rank; 5e8)", "0"},
    {"gather-elements", "zero1, zero2: parameters per allgather; 0: all in one", "0"},
    {"persistence-elements", "zero3: tensors up to this size are gathered only once, after the step", "0"},
    {"prefetch-elements", "zero3: tensors are gathered together up to this size; 0: each on its own", "0"},
    {"quantize",
     "megatron, zero1, zero2, zero3, fsdp: format in which parameters are gathered: none, mxfp8, int8:128:fp32 ... "
     "(README of the pattern)",
     "none"},
    {"reshard", "fsdp: on: layers are gathered again for the backward pass", "on"},
    {"microbatches", "micro-batches of one step; zero2, zero3 and fsdp reduce after each, the others at the end", "1"},
    {"in-flight", "operations under way at once, 1 to 8", "1"},
    {"in-place", "on: collectives work in their receive buffers", "off"},
    memory_limit_parameter,
};

enum class Scheme { ddp, megatron, zero1, zero2, zero3, fsdp };
enum class Form { allreduce, reduce_scatter };

struct Params {
    Scheme scheme = Scheme::ddp;
    Form form = Form::allreduce;  // not read by zero3 and fsdp, which always scatter
    TrainedModel model;
    int dp = 1;      // ranks of a group
    int stride = 1;  // between them
    Element element = Element::bf16;
    Element gradient_element = Element::bf16;
    Bytes bucket_bytes = 0;
    Bytes first_bucket_bytes = 0;
    std::uint64_t bucket_elements = 0;
    std::uint64_t gather_elements = 0;
    std::uint64_t persistence_elements = 0;
    std::uint64_t prefetch_elements = 0;
    std::optional<BlockFormat> packing;  // of gathered parameters
    bool reshard = true;
    int microbatches = 1;
    int in_flight = 1;
    bool in_place = false;
    Bytes memory_limit = 0;

    [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(dp); }
};

TrainedModel read_model(Parameters const& parameters, Modules modules) {
    if (auto const transformer = transformer_of(text_of(parameters, "model"), modules)) {
        return *transformer;
    }
    std::vector<std::string_view> names = model_names();
    names.emplace_back("flat");
    std::string_view const name = names[read_choice(parameters, "model", names)];
    std::uint64_t const elements = read_unsigned(parameters, "parameters", 1, max_elements);
    return name == "flat" ? TrainedModel{{{elements, 1}}, 0, 0} : model_named(name, modules);
}

void read_group(Parameters const& parameters, WorldShape const& world, Params& params) {
    int const ranks = world.ranks;
    params.stride = read_int(parameters, "stride", 1, std::numeric_limits<int>::max());
    if (ranks % params.stride != 0) {
        throw UsageError(fmt::format("--stride {}: does not divide {} ranks", params.stride, ranks));
    }
    int const asked = read_int(parameters, "dp", 0, std::numeric_limits<int>::max());
    params.dp = asked == 0 ? ranks / params.stride : asked;
    if (ranks / params.stride % params.dp != 0) {
        throw UsageError(params.stride == 1
                             ? fmt::format("--dp {}: does not divide {} ranks", params.dp, ranks)
                             : fmt::format("--dp {} with --stride {}: {} ranks do not divide into groups of {}",
                                           params.dp, params.stride, ranks,
                                           params.ranks() * static_cast<std::uint64_t>(params.stride)));
    }
}

void read_buckets(Parameters const& parameters, Params& params) {
    params.bucket_bytes = read_bytes(parameters, "bucket-bytes", 1, max_elements);
    params.first_bucket_bytes = read_bytes(parameters, "first-bucket-bytes", 1, max_elements);
    params.bucket_elements = read_unsigned(parameters, "bucket-elements", 0, max_elements);
    if (params.bucket_elements == 0) {
        params.bucket_elements =
            params.scheme == Scheme::megatron ? megatron_bucket_elements(params.ranks()) : deepspeed_bucket_elements;
    }
    params.gather_elements = read_unsigned(parameters, "gather-elements", 0, max_elements);
    if (params.gather_elements > 0 && params.model.elements() / params.gather_elements > max_gathers) {
        throw UsageError(fmt::format("--gather-elements {}: cuts the parameters into {} allgathers; the most is {}",
                                     params.gather_elements, params.model.elements() / params.gather_elements,
                                     max_gathers));
    }
    params.persistence_elements = read_unsigned(parameters, "persistence-elements", 0, max_elements);
    params.prefetch_elements = read_unsigned(parameters, "prefetch-elements", 0, max_elements);
}

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    params.scheme = read_enum<Scheme>(parameters, "scheme", {"ddp", "megatron", "zero1", "zero2", "zero3", "fsdp"});
    params.model =
        read_model(parameters, params.scheme == Scheme::megatron ? Modules::megatron : Modules::hugging_face);
    params.form = read_enum<Form>(parameters, "form", {"allreduce", "reduce_scatter"});
    if (params.scheme == Scheme::ddp && params.form == Form::reduce_scatter) {
        throw UsageError("--form reduce_scatter: --scheme ddp only adds with allreduce; use megatron, zero1 or zero2");
    }
    read_group(parameters, world, params);
    params.element = read_element(parameters, "element", training_elements);
    params.gradient_element = read_gradient_element(parameters, params.element);
    read_buckets(parameters, params);
    params.packing = read_packing(parameters, "quantize");
    bool const gathers =
        params.scheme != Scheme::ddp && (params.scheme != Scheme::megatron || params.form == Form::reduce_scatter);
    if (params.packing && !gathers) {
        throw UsageError(fmt::format("--quantize {}: these gradients are reduced by allreduce and no parameters are "
                                     "gathered; use --scheme zero1, "
                                     "zero2, zero3 or fsdp, or megatron with --form reduce_scatter",
                                     to_string(*params.packing)));
    }
    params.reshard = read_switch(parameters, "reshard");
    params.microbatches = read_int(parameters, "microbatches", 1, max_microbatches);
    params.in_flight = read_int(parameters, "in-flight", 1, max_in_flight);
    if (params.packing && params.in_flight > max_in_flight / 2) {
        throw UsageError(
            fmt::format("--in-flight {} with --quantize: at most {}, because a packed operation has twice the buffers",
                        params.in_flight, max_in_flight / 2));
    }
    params.in_place = read_switch(parameters, "in-place");
    params.memory_limit = read_memory_limit(parameters);
    return params;
}

/// Tensors in one order of use: as they are, as they travel, and as they travel if they are not persistent (else 0).
struct TensorSizes {
    TensorSizes(Params const& params, bool backward) {
        for (ParameterTensor const& tensor : params.model.tensors) {
            plain.push_back(tensor.elements);
        }
        if (backward) {
            std::reverse(plain.begin(), plain.end());
        }
        for (std::uint64_t const elements : plain) {
            whole.push_back(padded(elements, params.ranks()));
            gathered.push_back(elements <= params.persistence_elements ? 0 : whole.back());
        }
    }

    std::vector<std::uint64_t> plain;
    std::vector<std::uint64_t> whole;
    std::vector<std::uint64_t> gathered;
};

/// Buckets of gradients, in the order in which they become ready.
std::vector<Bucket> buckets_of(Params const& params) {
    std::vector<std::uint64_t> const sizes = TensorSizes(params, true).plain;
    if (params.scheme == Scheme::ddp) {
        Bytes const size = size_of(params.gradient_element);
        return close_when_full(sizes, padded(params.first_bucket_bytes, size) / size,
                               padded(params.bucket_bytes, size) / size);
    }
    if (params.scheme == Scheme::megatron) {
        return megatron_buckets(sizes, params.bucket_elements,
                                params.form == Form::reduce_scatter ? params.ranks() : 0);
    }
    return close_before_overflow(sizes, params.bucket_elements);
}

/// Index: unit. Elements with padding.
std::vector<std::uint64_t> unit_sizes(Params const& params) {
    std::vector<std::uint64_t> units(1);
    for (ParameterTensor const& tensor : params.model.tensors) {
        units.resize(std::max<std::size_t>(units.size(), tensor.unit + std::size_t{1}));
        units[tensor.unit] += tensor.elements;
    }
    for (std::uint64_t& elements : units) {
        elements = padded(elements, params.ranks());
    }
    return units;
}

/// Labels: buffers.statistics, buffers.counters, gradients.BUCKET, overflow, parameters.BUCKET; parameters.forward.N,
/// parameters.backward.N, parameters.persistent where every rank holds a part of each parameter.
class GradientSteps {
public:
    GradientSteps(Params const& params, WorldShape const& world, Rank me)
        : params_(params),
          queue_(me, strided_group(world, me, params.dp, params.stride),
                 {.in_flight = params.in_flight, .in_place = params.in_place, .memory_limit = params.memory_limit}) {}

    /// DDP, Megatron-LM's DDP and distributed optimizer, ZeRO-1 and -2: every rank holds all parameters. Gradient
    /// buckets in the order in which a backward pass fills them; then, where the optimizer is sharded, the updated
    /// parameters are gathered.
    void replicated() {
        if (params_.scheme == Scheme::ddp) {
            batch_norms();
        }
        std::vector<Bucket> const buckets = buckets_of(params_);
        // ZeRO-2 keeps no whole gradients from one micro-batch to the next.
        int const first = params_.scheme == Scheme::zero2 ? 0 : params_.microbatches - 1;
        for (int microbatch = first; microbatch < params_.microbatches; ++microbatch) {
            queue_.microbatch(microbatch);
            for (std::size_t i = 0; i < buckets.size(); ++i) {
                if (params_.form == Form::reduce_scatter) {
                    scatter(i, padded(buckets[i].elements, params_.ranks()));
                } else {
                    queue_.all_reduce(fmt::format("gradients.{}", i), buckets[i].elements, params_.gradient_element);
                }
            }
            queue_.wait_for_all();
        }
        queue_.microbatch(-1);
        if (params_.scheme == Scheme::megatron && params_.form == Form::reduce_scatter) {
            for (std::size_t i = buckets.size(); i-- > 0;) {  // those of the first layers first
                gather("parameters", i, buckets[i].elements);
            }
        } else if (params_.scheme == Scheme::zero1 || params_.scheme == Scheme::zero2) {
            overflow();
            std::vector<std::uint64_t> const shards =
                gather_shards(params_.model.elements(), params_.gather_elements, params_.ranks());
            for (std::size_t i = 0; i < shards.size(); ++i) {
                gather("parameters", i, shards[i]);
            }
        }
    }

    /// DeepSpeed, deepspeed/runtime/zero/stage3.py and partition_parameters.py: parameters are gathered tensor by
    /// tensor (or coalesced up to the prefetch size), each padded to whole elements per rank, in both passes; gradients
    /// are scattered in buckets of the ZeRO-1/2 rule.
    void zero3() {
        std::uint64_t const cap = std::max<std::uint64_t>(params_.prefetch_elements, 1);
        TensorSizes const forward(params_, false);
        TensorSizes const backward(params_, true);
        std::vector<Bucket> const forward_gathers = close_when_full(forward.gathered, cap, cap);
        std::vector<Bucket> const backward_gathers = close_when_full(backward.gathered, cap, cap);
        std::vector<Bucket> const buckets = close_before_overflow(backward.plain, params_.bucket_elements);
        for (int microbatch = 0; microbatch < params_.microbatches; ++microbatch) {
            queue_.microbatch(microbatch);
            for (std::size_t i = 0; i < forward_gathers.size(); ++i) {
                gather("parameters.forward", i, forward_gathers[i].elements);
            }
            queue_.wait_for_all();
            // A bucket leaves when the last of its gradients exists, which needs the parameters gathered before.
            std::size_t next = 0;
            for (std::size_t i = 0; i < buckets.size(); ++i) {
                for (; next < backward_gathers.size() && backward_gathers[next].first <= buckets[i].last; ++next) {
                    gather("parameters.backward", next, backward_gathers[next].elements);
                }
                std::size_t const tensors = buckets[i].last - buckets[i].first + 1;
                scatter(i, sum_of(std::span(backward.whole).subspan(buckets[i].first, tensors)));
            }
            queue_.wait_for_all();
        }
        queue_.microbatch(-1);
        overflow();
        if (std::uint64_t const persistent = sum_of(forward.whole) - sum_of(forward.gathered); persistent > 0) {
            queue_.all_gather("parameters.persistent", persistent, params_.element, params_.packing);
        }
    }

    /// PyTorch, torch/distributed/fsdp/_flat_param.py: one flat tensor per unit, padded to whole elements per rank. The
    /// root unit (number 0: embedding, final norm, head) stays gathered until its backward, in which the next unit is
    /// gathered before the gradients of one are scattered (BackwardPrefetch.BACKWARD_PRE, the default).
    void fsdp() {
        std::vector<std::uint64_t> const units = unit_sizes(params_);
        for (int microbatch = 0; microbatch < params_.microbatches; ++microbatch) {
            queue_.microbatch(microbatch);
            for (std::size_t unit = 0; unit < units.size(); ++unit) {
                if (units[unit] > 0) {
                    gather("parameters.forward", unit, units[unit]);
                }
            }
            queue_.wait_for_all();
            std::vector<std::optional<StepId>> gathered(units.size());
            auto const gather_again = [&](std::size_t unit) {
                if (unit > 0 && params_.reshard) {
                    gather("parameters.backward", unit, units[unit]);
                    gathered[unit] = queue_.last();
                }
            };
            gather_again(units.size() - 1);
            for (std::size_t unit = units.size(); unit-- > 0;) {
                gather_again(std::max<std::size_t>(unit, 1) - 1);
                if (units[unit] > 0) {
                    scatter(unit, units[unit], gathered[unit]);
                }
            }
            queue_.wait_for_all();
        }
    }

    [[nodiscard]] Plan finish() && { return std::move(queue_).finish(); }

private:
    /// DDP sends the running statistics of batch norms from rank 0 before a forward pass.
    void batch_norms() {
        if (params_.model.norm_counters > 0) {
            queue_.broadcast("buffers.statistics", params_.model.running_statistics, Element::fp32);
            queue_.broadcast("buffers.counters", params_.model.norm_counters, Element::int64);
            queue_.wait_for_all();
        }
    }
    /// One byte says whether a gradient overflowed anywhere.
    void overflow() {
        queue_.all_reduce("overflow", 1, Element::byte, Reduction::max);
        queue_.wait_for_all();
    }
    void gather(std::string_view phase, std::size_t number, std::uint64_t elements) {
        queue_.all_gather(fmt::format("{}.{}", phase, number), elements, params_.element, params_.packing);
    }
    void scatter(std::size_t bucket, std::uint64_t elements, std::optional<StepId> needs = {}) {
        queue_.reduce_scatter(fmt::format("gradients.{}", bucket), elements, params_.gradient_element, needs);
    }

    Params const& params_;
    CollectiveQueue queue_;
};

Plan plan_of(Params const& params, WorldShape const& world, Rank me) {
    GradientSteps steps(params, world, me);
    if (params.scheme == Scheme::zero3) {
        steps.zero3();
    } else if (params.scheme == Scheme::fsdp) {
        steps.fsdp();
    } else {
        steps.replicated();
    }
    return std::move(steps).finish();
}

std::vector<OperationUse> operations_of(Params const& params) {
    OperationUse const all_reduce{OperationKind::all_reduce, true};
    OperationUse const all_gather{OperationKind::all_gather, true};
    OperationUse const reduce_scatter{OperationKind::reduce_scatter, true};
    bool const scatters = params.form == Form::reduce_scatter;
    switch (params.scheme) {
    case Scheme::ddp:
        break;
    case Scheme::megatron:
        return scatters ? std::vector{reduce_scatter, all_gather} : std::vector{all_reduce};
    case Scheme::zero1:
    case Scheme::zero2:
        return scatters ? std::vector{reduce_scatter, all_gather, all_reduce} : std::vector{all_reduce, all_gather};
    case Scheme::zero3:
        return {all_gather, reduce_scatter, all_reduce};
    case Scheme::fsdp:
        return {all_gather, reduce_scatter};
    }
    OperationUse const broadcast{OperationKind::broadcast, true};
    return params.model.norm_counters > 0 ? std::vector{all_reduce, broadcast} : std::vector{all_reduce};
}

Parameters resolved_of(Params const& params) {
    Parameters resolved{{"dp", fmt::format("{}", params.dp)}};
    if (params.scheme != Scheme::ddp && params.scheme != Scheme::fsdp) {
        resolved.emplace("bucket-elements", fmt::format("{}", params.bucket_elements));
    }
    return resolved;
}

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    Params const params = read_params(parameters, world);
    return std::make_unique<FixedPattern>(
        operations_of(params), [params, world](Rank me) { return plan_of(params, world, me); }, resolved_of(params));
}

constexpr std::string_view phases[] = {"buffers", "pack", "parameters", "unpack", "gradients", "overflow"};

/// The model is told to --model in words, so that a result says what was measured.
ModelDerived of_model(ModelShape const& model, Parallelism const& parallel) {
    ModelParameters parameters(model, parallel, {"tp", "pp", "dp"});
    parameters.computed("model", [&] { return transformer_text(model, parallel); })
        .optional("stride", parallel.tp)
        .element();
    // Without stages all ranks have the same gradients but for tp.
    if (parallel.pp > 1) {
        parameters.needed("dp", parallel.dp, "how many ranks have a stage");
    } else {
        parameters.optional("dp", parallel.dp);
    }
    return parameters.derived();
}

}  // namespace

PatternType const& type() {
    static PatternType const dp_gradients{
        "dp_gradients", "gradients and parameters of data-parallel training: DDP, ZeRO, FSDP",
        infos,          phases,
        presets_json,   make,
        of_model};
    return dp_gradients;
}

}  // namespace dlmb::dp_gradients
