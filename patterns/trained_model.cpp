// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/trained_model.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace dlmb {
namespace {

constexpr std::string_view transformer_prefix = "transformer:";
constexpr std::uint64_t gpt_vocabulary = 50304;  // 50257, padded to a multiple of 128

/// A transformer; without `mlp` a GPT, without layers ResNet-50.
struct NamedModel {
    std::string_view name;
    std::uint32_t layers = 0;
    std::uint64_t hidden = 0;
    std::uint64_t key_values = 0;  // key-value heads times head dimension; 0: as many as hidden
    std::uint64_t mlp = 0;         // width of gate and up
    std::uint64_t vocabulary = gpt_vocabulary;
    bool tied = false;            // the head is the embedding
    std::uint64_t tp = 1;         // ranks that share each layer
    std::uint32_t pp = 1;         // stages that share the layers
    std::uint64_t queries = 0;    // heads times head dimension; 0: as many as hidden
    std::uint64_t positions = 0;  // learned ones
    bool bias = false;            // query, key and value have one in a gated model (a GPT has one always)
};

constexpr NamedModel models[] = {
    {"resnet-50"},
    {"gpt-19m", 6, 512},
    {"gpt-49m", 10, 640},
    {"gpt-125m", 12, 768},
    {"gpt-350m", 24, 1024},
    {"gpt-1.3b", 24, 2048},
    {"gpt-2.7b", 32, 2560},
    {"gpt-6.7b", 32, 4096},
    {"gpt-13b", 40, 5120},
    {"gpt-20b", 44, 6144},
    {"gpt-175b", 96, 12288},
    {"llama-7b", 32, 4096, 4096, 11008, 32000},
    {"llama-13b", 40, 5120, 5120, 13824, 32000},
    {"llama-70b", 80, 8192, 1024, 28672, 32000},
    {"llama3-8b", 32, 4096, 1024, 14336, 128256},
    {"llama3-70b", 80, 8192, 1024, 28672, 128256},
};

/// A size of 0 is no tensor.
void add(TrainedModel& model, std::uint32_t unit, std::initializer_list<std::uint64_t> tensors) {
    for (std::uint64_t const elements : tensors) {
        if (elements > 0) {
            model.tensors.push_back({elements, unit});
        }
    }
}

/// Embedding, the tensors of each layer, final norm and untied head; of the last of several stages no embedding but
/// the head, also where both are tied. Column-parallel layers have 1/tp of weights and biases, row-parallel ones 1/tp
/// of the weights (Megatron-LM, tensor_parallel/layers.py).
///
/// GPT-NeoX: layer norms and linear layers with bias, rotary positions (EleutherAI/gpt-neox,
/// megatron/model/transformer.py and configs/): layers * (12 hidden^2 + 13 hidden) + 2 hidden + 2 vocabulary * hidden
/// elements; where heads share keys and values, 2 (hidden + 1) (hidden - key-values) fewer per layer. GPT-2 has
/// `positions` as well.
///
/// LLaMA, Llama 2 and Llama 3: RMS norms, no biases, gated mlp (arXiv 2302.13971, 2307.09288, 2407.21783). Qwen2 has
/// `bias` as well (transformers, Qwen2Attention).
TrainedModel transformer(NamedModel const& shape, Modules modules) {
    std::uint64_t const h = shape.hidden;
    std::uint64_t const own = h / shape.tp;  // of the outputs of a layer as wide as its input
    std::uint64_t const queries = shape.queries == 0 ? own : shape.queries / shape.tp;
    std::uint64_t const key_values = shape.key_values == 0 ? own : shape.key_values / shape.tp;
    std::uint64_t const query_key_value = queries + 2 * key_values;
    std::uint64_t const mlp = shape.mlp / shape.tp;
    bool const pads = modules == Modules::megatron || shape.tp > 1 || shape.pp > 1;
    std::uint64_t const words = (pads ? padded_vocabulary(shape.vocabulary, shape.tp) : shape.vocabulary) / shape.tp;
    bool const gpt = shape.mlp == 0;
    TrainedModel model;
    if (shape.pp == 1) {
        add(model, 0, {words * h, shape.positions * h});
    }
    for (std::uint32_t layer = 1; layer <= shape.layers / shape.pp; ++layer) {
        if (modules == Modules::megatron && gpt) {
            add(model, layer,
                {h, h, h * queries, h, h * query_key_value, query_key_value, h, h, 4 * h * own, 4 * own, 4 * h * own,
                 h});
        } else if (modules == Modules::megatron) {
            add(model, layer,
                {h, h * queries, h * query_key_value, shape.bias ? query_key_value : 0, h, 2 * h * mlp, h * mlp});
        } else if (gpt) {
            add(model, layer,
                {h, h,                                  // input norm: weight, bias
                 h * query_key_value, query_key_value,  // query, key and value
                 h * queries, h,                        // attention output
                 h, h,                                  // norm before the mlp
                 4 * h * own, 4 * own, 4 * h * own, h});
        } else {
            add(model, layer, {h});  // input norm
            for (std::uint64_t const outputs : {queries, key_values, key_values}) {
                add(model, layer, {h * outputs, shape.bias ? outputs : 0});
            }
            add(model, layer, {h * queries, h, h * mlp, h * mlp, h * mlp});  // output, norm, gate, up, down
        }
    }
    add(model, 0, {h});
    if (gpt) {
        add(model, 0, {h});
    }
    if (!shape.tied || shape.pp > 1) {
        add(model, 0, {words * h});
    }
    return model;
}

/// Without bias; a batch norm follows.
void add_convolution(TrainedModel& model, std::uint32_t unit, std::uint64_t in, std::uint64_t out,
                     std::uint64_t kernel) {
    add(model, unit, {in * out * kernel * kernel, out, out});  // and the norm's weight and bias
    model.running_statistics += 2 * out;
    ++model.norm_counters;
}

/// ResNet-50 (arXiv 1512.03385, table 1) as torchvision registers it (torchvision/models/resnet.py). A unit is a
/// bottleneck block.
TrainedModel resnet_50() {
    struct ResNetStage {
        int blocks;
        std::uint64_t width;  // channels between the 1 x 1 convolutions; four times as many leave a block
    };
    TrainedModel model;
    add_convolution(model, 0, 3, 64, 7);
    std::uint64_t channels = 64;
    std::uint32_t unit = 0;
    for (auto const [blocks, width] :
         {ResNetStage{3, 64}, ResNetStage{4, 128}, ResNetStage{6, 256}, ResNetStage{3, 512}}) {
        for (int block = 0; block < blocks; ++block) {
            ++unit;
            add_convolution(model, unit, channels, width, 1);
            add_convolution(model, unit, width, width, 3);
            add_convolution(model, unit, width, 4 * width, 1);
            if (block == 0) {
                add_convolution(model, unit, channels, 4 * width, 1);  // downsample
            }
            channels = 4 * width;
        }
    }
    constexpr std::uint64_t classes = 1000;
    add(model, 0, {channels * classes, classes});
    return model;
}

/// Throws UsageError for sizes that tp and pp do not divide.
void require_division(std::string_view text, NamedModel const& shape) {
    struct DividedSize {
        std::string_view name;
        std::uint64_t size;
        std::string_view over;
        std::uint64_t ranks;
    };
    for (DividedSize const& each :
         {DividedSize{"layers", shape.layers, "pp", shape.pp}, DividedSize{"hidden", shape.hidden, "tp", shape.tp},
          DividedSize{"mlp", shape.mlp, "tp", shape.tp}, DividedSize{"queries", shape.queries, "tp", shape.tp},
          DividedSize{"key-values", shape.key_values, "tp", shape.tp}}) {
        if (each.size % each.ranks != 0) {
            throw UsageError(fmt::format("--model '{}': {} {} does not divide by {} {}", text, each.name, each.size,
                                         each.over, each.ranks));
        }
    }
}

/// Throws UsageError for more elements than max_elements, whose sum may be beyond 2^64.
void require_countable(std::string_view text, TrainedModel const& model) {
    double sum = 0;
    for (ParameterTensor const& tensor : model.tensors) {
        sum += static_cast<double>(tensor.elements);
    }
    if (sum > static_cast<double>(max_elements)) {
        throw UsageError(fmt::format("--model '{}': {:.3g} elements on a rank; the most is 2^48", text, sum));
    }
}

}  // namespace

std::vector<std::string_view> model_names() {
    std::vector<std::string_view> names;
    for (NamedModel const& model : models) {
        names.push_back(model.name);
    }
    return names;
}

TrainedModel model_named(std::string_view name, Modules modules) {
    for (NamedModel const& model : models) {
        if (model.name == name) {
            return model.layers == 0 ? resnet_50() : transformer(model, modules);
        }
    }
    throw Error(fmt::format("no model '{}'", name));
}

std::optional<TrainedModel> transformer_of(std::string_view text, Modules modules) {
    if (!text.starts_with(transformer_prefix)) {
        return std::nullopt;
    }
    constexpr std::uint64_t most_layers = 65536;
    constexpr std::uint64_t most_width = std::uint64_t{1} << 24U;
    std::uint64_t layers = 0;
    std::uint64_t tied = 0;
    std::uint64_t bias = 0;
    std::uint64_t pp = 1;
    NamedModel shape{transformer_prefix};
    struct Size {
        std::string_view name;
        std::uint64_t* value;
        std::uint64_t most;
    };
    Size const sizes[] = {{"layers", &layers, most_layers},
                          {"hidden", &shape.hidden, most_width},
                          {"mlp", &shape.mlp, most_width},
                          {"queries", &shape.queries, most_width},
                          {"key-values", &shape.key_values, most_width},
                          {"positions", &shape.positions, most_width},
                          {"bias", &bias, 1},
                          {"vocabulary", &shape.vocabulary, most_width},
                          {"tied", &tied, 1},
                          {"tp", &shape.tp, most_width},
                          {"pp", &pp, most_layers}};
    for (std::string_view rest = text.substr(transformer_prefix.size()); !rest.empty();) {
        std::string_view const word = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        auto const* const size = std::find_if(std::begin(sizes), std::end(sizes), [&](Size const& each) {
            return each.name == word.substr(0, word.find('='));
        });
        auto const value = parse_whole<std::uint64_t>(word.substr(std::min(word.size(), word.find('=') + 1)));
        if (size == std::end(sizes) || !value || *value > size->most) {
            throw UsageError(fmt::format("--model '{}': '{}' is none of layers, hidden, mlp, queries, key-values, "
                                         "positions, bias, vocabulary, tied, tp and pp with a whole number, as in "
                                         "transformer:layers=32:hidden=4096",
                                         text, word));
        }
        *size->value = *value;
    }
    if (layers == 0 || shape.hidden == 0 || shape.vocabulary == 0 || shape.tp == 0 || pp == 0) {
        throw UsageError(fmt::format("--model '{}': layers, hidden, vocabulary, tp and pp have to be above 0", text));
    }
    shape.layers = static_cast<std::uint32_t>(layers);
    shape.pp = static_cast<std::uint32_t>(pp);
    shape.tied = tied == 1;
    shape.bias = bias == 1;
    require_division(text, shape);
    TrainedModel model = transformer(shape, modules);
    require_countable(text, model);
    return model;
}

std::string transformer_text(ModelShape const& model, Parallelism const& parallel) {
    if (model.experts > 0) {
        throw UsageError(fmt::format(
            "{}: has experts, whose gradients are reduced in groups of their own; this pattern has dense models",
            model.source));
    }
    if (model.kv_lora > 0) {
        throw UsageError(fmt::format("{}: has latent attention (MLA), whose gradients are not known", model.source));
    }
    if (model.other_mixers || model.shared_keys > 0) {
        throw UsageError(fmt::format("{}: some layers are not attention with keys and values of their own; gradients "
                                     "of others are not known",
                                     model.source));
    }
    if (model.gated_mlp != model.rms_norm) {
        throw UsageError(fmt::format("{}: an mlp that is {}gated, with {} norms, is neither GPT's nor LLaMA's, so its "
                                     "gradients are not known",
                                     model.source, model.gated_mlp ? "" : "not ", model.rms_norm ? "RMS" : "layer"));
    }
    bool const gated = model.gated_mlp;
    if (model.hidden == 0 || model.layers == 0 || model.vocabulary == 0 || (gated && model.mlp == 0)) {
        throw UsageError(fmt::format("{}: does not tell hidden size, layers, vocabulary and, with RMS norms, the width "
                                     "of its mlp, which the gradients follow from",
                                     model.source));
    }
    if (!gated && model.mlp > 0 && model.mlp != 4 * model.hidden) {
        throw UsageError(fmt::format(
            "{}: an mlp of {} values that is not gated is neither GPT's nor LLaMA's, so its gradients are not known",
            model.source, model.mlp));
    }
    if (model.heads == 0 || model.head_dim == 0) {
        throw UsageError(fmt::format("{}: does not tell its heads and one dimension of all of them, which the "
                                     "gradients of attention follow from",
                                     model.source));
    }
    if (parallel.tp > 1 && model.kv_heads % parallel.tp != 0) {
        throw UsageError(fmt::format("{}: key-value heads {} do not divide by tp {}, so that ranks would hold copies",
                                     model.source, model.kv_heads, parallel.tp));
    }
    std::string text = fmt::format("{}layers={}:hidden={}", transformer_prefix, model.layers, model.hidden);
    std::uint64_t const queries = model.heads * model.head_dim;
    std::uint64_t const key_values = model.kv_heads * model.head_dim;
    text += gated ? fmt::format(":mlp={}", model.mlp) : "";
    text += queries != model.hidden ? fmt::format(":queries={}", queries) : "";
    text += gated || key_values != model.hidden ? fmt::format(":key-values={}", key_values) : "";
    text += gated && model.query_key_value_bias ? ":bias=1" : "";
    text += model.positions > 0 ? fmt::format(":positions={}", model.positions) : "";
    text += fmt::format(":vocabulary={}{}", model.vocabulary, model.tied_embeddings ? ":tied=1" : "");
    text += parallel.tp > 1 ? fmt::format(":tp={}", parallel.tp) : "";
    return text + (parallel.pp > 1 ? fmt::format(":pp={}", parallel.pp) : "");
}

std::uint64_t gradients_of(ModelShape const& model, Parallelism const& parallel) {
    return transformer_of(transformer_text(model, parallel)).value().elements();
}

}  // namespace dlmb
