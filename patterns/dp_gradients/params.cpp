// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/params.hpp"

#include "common/base/error.hpp"
#include "patterns/buffer_budget.hpp"
#include "patterns/dp_gradients/buckets.hpp"
#include "patterns/dp_gradients/models.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

#include <limits>
#include <string_view>

namespace dlmb::dp_gradients {
namespace {

constexpr std::uint64_t max_elements = std::uint64_t{1} << 48;
constexpr std::uint64_t max_microbatches = 65536;
constexpr std::uint64_t max_in_flight = 8;  // the shared buffers of a plan, which steps in flight must not overwrite
constexpr Bytes max_memory = std::numeric_limits<Bytes>::max();
constexpr std::uint64_t deepspeed_bucket_elements = 500'000'000;  // its documented default

constexpr ParameterInfo infos[] = {
    {"model",
     "whose parameters: resnet-50, gpt-19m ... gpt-175b, llama-7b, llama-13b, llama-70b, llama3-8b, "
     "llama3-70b; flat: one tensor of --parameters",
     "gpt-125m"},
    {"parameters", "elements of the model 'flat'", "1000000"},
    {"scheme", "ddp, megatron, zero1, zero2, zero3, fsdp", "ddp"},
    {"form", "gradients of megatron, zero1, zero2: allreduce, reduce_scatter", "allreduce"},
    {"dp", "data-parallel ranks; 0: all", "0"},
    {"stride",
     "ranks from one member of a group to the next (the tensor-parallel size; the model is not divided by it)", "1"},
    {"element", "type of parameters: bf16, fp16, fp32", "bf16"},
    {"gradient-element", "type of gradients on their way: same, bf16, fp16, fp32", "same"},
    {"bucket-bytes", "ddp: a bucket is closed at this size", "25M"},
    {"first-bucket-bytes", "ddp: the same for the first bucket", "1M"},
    {"bucket-elements",
     "megatron, zero1, zero2, zero3: gradients per bucket; 0: the framework's (40e6 or 1e6 per rank; 5e8)", "0"},
    {"gather-elements", "zero1, zero2: parameters per allgather; 0: all in one", "0"},
    {"persistence-elements", "zero3: tensors up to this size are gathered only once, after the step", "0"},
    {"prefetch-elements", "zero3: tensors are gathered together up to this size; 0: each on its own", "0"},
    {"reshard", "fsdp: on: layers are gathered again for the backward pass", "on"},
    {"microbatches", "micro-batches of one step; zero2, zero3 and fsdp reduce after each, the others at the end", "1"},
    {"in-flight", "operations under way at once, 1 to 8", "1"},
    {"in-place", "on: collectives work in their receive buffers", "off"},
    {"memory-limit", memory_limit_help, "1G"},
};

Model read_model(Parameters const& parameters) {
    std::vector<std::string_view> names(model_names().begin(), model_names().end());
    names.emplace_back("flat");
    std::string_view const name = names[read_choice(parameters, "model", names)];
    std::uint64_t const elements = read_unsigned(parameters, "parameters", 1, max_elements);
    return name == "flat" ? Model{{{elements, 1}}, 0, 0} : model_named(name);
}

void read_group(Parameters const& parameters, WorldShape const& world, Params& params) {
    auto const ranks = static_cast<std::uint64_t>(world.ranks);
    std::uint64_t const stride = read_unsigned(parameters, "stride", 1, std::numeric_limits<int>::max());
    if (ranks % stride != 0) {
        throw UsageError(fmt::format("--stride {}: does not divide {} ranks", stride, ranks));
    }
    std::uint64_t const asked = read_unsigned(parameters, "dp", 0, std::numeric_limits<int>::max());
    std::uint64_t const dp = asked == 0 ? ranks / stride : asked;
    if (ranks / stride % dp != 0) {
        throw UsageError(stride == 1 ? fmt::format("--dp {}: does not divide {} ranks", dp, ranks)
                                     : fmt::format("--dp {} with --stride {}: {} ranks do not divide into groups of {}",
                                                   dp, stride, ranks, dp * stride));
    }
    params.dp = static_cast<int>(dp);
    params.stride = static_cast<int>(stride);
}

void read_elements(Parameters const& parameters, Params& params) {
    params.element = read_element(parameters, "element", training_elements);
    std::size_t const gradient = read_choice(parameters, "gradient-element", {"bf16", "fp16", "fp32", "same"});
    params.gradient_element = gradient == training_elements.size() ? params.element : training_elements.at(gradient);
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
    params.persistence_elements = read_unsigned(parameters, "persistence-elements", 0, max_elements);
    params.prefetch_elements = read_unsigned(parameters, "prefetch-elements", 0, max_elements);
}

}  // namespace

std::span<ParameterInfo const> parameter_infos() {
    return infos;
}

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    params.model = read_model(parameters);
    params.scheme = read_enum<Scheme>(parameters, "scheme", {"ddp", "megatron", "zero1", "zero2", "zero3", "fsdp"});
    params.form = read_enum<Form>(parameters, "form", {"allreduce", "reduce_scatter"});
    if (params.scheme == Scheme::ddp && params.form == Form::reduce_scatter) {
        throw UsageError("--form reduce_scatter: --scheme ddp only adds with allreduce; use megatron, zero1 or zero2");
    }
    read_group(parameters, world, params);
    read_elements(parameters, params);
    read_buckets(parameters, params);
    params.reshard = read_switch(parameters, "reshard");
    params.microbatches = static_cast<int>(read_unsigned(parameters, "microbatches", 1, max_microbatches));
    params.in_flight = static_cast<int>(read_unsigned(parameters, "in-flight", 1, max_in_flight));
    params.in_place = read_switch(parameters, "in-place");
    params.memory_limit = read_bytes(parameters, "memory-limit", 0, max_memory);
    return params;
}

}  // namespace dlmb::dp_gradients
