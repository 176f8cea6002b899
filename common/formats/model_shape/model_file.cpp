// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/model_shape/model_file.hpp"

#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>

namespace dlmb {
namespace {

using ModelJson = nlohmann::json;
using FieldNames = std::initializer_list<char const*>;

constexpr std::uint64_t largest = std::uint64_t{1} << 32U;

/// The object that holds the sizes: models of text and pictures have their transformer in one of their own.
ModelJson const& text_model(ModelJson const& whole) {
    auto const inner = whole.find("text_config");
    return inner != whole.end() && inner->is_object() ? *inner : whole;
}

class ModelReader {
public:
    ModelReader(ModelJson const& model, std::string const& source) : model_(&model), source_(source) {}

    /// The first of `names` that is there and not null; 0: none is. A list tells it for each layer (Gemma 3n, Hunyuan).
    [[nodiscard]] std::uint64_t size(FieldNames names) const {
        ModelJson const* value = first(names);
        if (value != nullptr && value->is_array() && !value->empty() &&
            std::count(value->begin(), value->end(), value->front()) == static_cast<std::ptrdiff_t>(value->size())) {
            value = &value->front();
        }
        if (value == nullptr || (!value->is_number_unsigned() && *value == -1)) {  // Llama: its tokenizer tells
            return 0;
        }
        bool const whole =
            value->is_number_integer() && (value->is_number_unsigned() || value->get<std::int64_t>() >= 0);
        if (!whole || value->get<std::uint64_t>() > largest) {
            throw UsageError(fmt::format("{}: '{}' is {}, which is neither a whole number from 0 to 2^32 nor a "
                                         "list of equal ones",
                                         source_, name_of_first(names), shortened(value->dump())));
        }
        return value->get<std::uint64_t>();
    }
    /// An array of sizes, or a text of them joined by commas, as an option takes them; empty: not there.
    [[nodiscard]] std::vector<std::uint64_t> sizes(char const* name, std::uint64_t least = 1) const {
        ModelJson const* const value = first({name});
        std::vector<std::uint64_t> numbers;
        if (value == nullptr) {
            return numbers;
        }
        auto const take = [&](std::optional<std::uint64_t> number) {
            if (!number || *number < least || *number > largest) {
                throw UsageError(fmt::format("{}: '{}' is {}, which is no list of whole numbers from {} to 2^32",
                                             source_, name, shortened(value->dump()), least));
            }
            numbers.push_back(*number);
        };
        if (value->is_string()) {
            for (std::string_view const word : split(value->get_ref<std::string const&>(), ",")) {
                take(parse_whole<std::uint64_t>(without_blanks_around(word)));  // as Python's int() reads it
            }
        } else if (value->is_array()) {
            for (ModelJson const& number : *value) {
                take(number.is_number_unsigned() ? std::optional(number.get<std::uint64_t>()) : std::nullopt);
            }
        } else {
            take(std::nullopt);
        }
        return numbers;
    }
    /// 1: not there.
    [[nodiscard]] double factor(char const* name) const {
        ModelJson const* const value = first({name});
        if (value == nullptr) {
            return 1;
        }
        constexpr double most = 1024;
        if (!value->is_number() || !(value->get<double>() > 0 && value->get<double>() <= most)) {
            throw UsageError(fmt::format("{}: '{}' is {}, which is no number above 0 and up to {}", source_, name,
                                         shortened(value->dump()), most));
        }
        return value->get<double>();
    }
    /// The kind of each layer, from a list of words or the letters of a text; empty: not there.
    [[nodiscard]] std::vector<std::string> layer_kinds(char const* name) const {
        ModelJson const* const value = first({name});
        std::vector<std::string> kinds;
        if (value != nullptr && value->is_string()) {
            for (char const letter : value->get_ref<std::string const&>()) {
                kinds.emplace_back(1, letter);
            }
        } else if (value != nullptr && value->is_array()) {
            for (ModelJson const& kind : *value) {
                kinds.push_back(kind.is_string() ? kind.get<std::string>() : kind.dump());
            }
        }
        return kinds;
    }
    /// Whether an entry of the object `name`, one for some layers (transformers 5), has one of `names`.
    [[nodiscard]] bool some_entry_has(char const* name, FieldNames names) const {
        ModelJson const* const value = first({name});
        return value != nullptr && value->is_object() &&
               std::any_of(value->begin(), value->end(),
                           [&](ModelJson const& entry) { return ModelReader(entry, source_).has(names); });
    }
    [[nodiscard]] bool has(FieldNames names) const { return first(names) != nullptr; }
    [[nodiscard]] bool is_true(FieldNames names) const {
        ModelJson const* const value = first(names);
        return value != nullptr && value->is_boolean() && value->get<bool>();
    }
    [[nodiscard]] std::string text(FieldNames names) const {
        ModelJson const* const value = first(names);
        return value != nullptr && value->is_string() ? value->get<std::string>() : std::string{};
    }
    /// The object `name` in it, where DBRX has the sizes of that part of a layer; itself: there is none.
    [[nodiscard]] ModelReader part(char const* name) const {
        ModelJson const* const found = first({name});
        return found != nullptr && found->is_object() ? ModelReader(*found, source_) : *this;
    }

private:
    [[nodiscard]] ModelJson const* first(FieldNames names) const {
        for (char const* name : names) {
            auto const found = model_->find(name);
            if (found != model_->end() && !found->is_null()) {
                return &*found;
            }
        }
        return nullptr;
    }
    [[nodiscard]] std::string_view name_of_first(FieldNames names) const {
        return *std::find_if(names.begin(), names.end(), [&](char const* name) { return first({name}) != nullptr; });
    }
    [[nodiscard]] static std::string shortened(std::string const& text) {
        constexpr std::size_t most = 40;
        return text.size() <= most ? text : text.substr(0, most) + "...";
    }

    ModelJson const* model_;
    std::string const& source_;
};

/// How many of `layers` are every n-th, from an offset on.
std::uint64_t every_nth(std::uint64_t period, std::uint64_t offset, std::uint64_t layers) {
    return (layers - std::min(offset, layers) + period - 1) / period;
}

/// Whether a layer of this kind keeps the keys and values of every token: those of gpt-oss, Granite, Zamba2 and
/// RecurrentGemma by their names, of Nemotron-H '*', of MiniMax 1.
bool is_attention(std::string const& kind) {
    return kind == "*" || kind == "1" || kind.starts_with("hybrid") ||
           (kind.ends_with("attention") && !kind.starts_with("linear"));
}

/// How many of `layers` have attention: none (Mamba), every n-th from an offset on (Jamba), the last of n (Qwen3-Next),
/// those in a list (Bamba, LFM2, Zamba2, Kimi-Linear), or those whose kind says so. RecurrentGemma repeats its list of
/// kinds. The names of fields are those of the classes of transformers.
std::uint64_t layers_with_attention(ModelReader const& model, std::uint64_t layers) {
    if (model.has({"state_size"})) {
        return 0;
    }
    if (std::uint64_t const period = model.size({"attn_layer_period"}); period > 0) {
        return every_nth(period, model.size({"attn_layer_offset"}), layers);
    }
    if (std::uint64_t const interval = model.size({"full_attention_interval"}); interval > 0) {
        return layers / interval;
    }
    for (char const* name : {"attn_layer_indices", "full_attn_idxs", "hybrid_layer_ids"}) {
        if (model.has({name})) {
            return model.sizes(name, 0).size();
        }
    }
    if (model.part("linear_attn_config").has({"full_attn_layers"})) {
        return model.part("linear_attn_config").sizes("full_attn_layers", 0).size();
    }
    for (char const* name : {"layer_types", "layers_block_type", "hybrid_override_pattern", "attn_type_list",
                             "block_types", "_block_types"}) {
        if (auto const kinds = model.layer_kinds(name); !kinds.empty()) {
            std::uint64_t found = 0;
            for (std::uint64_t layer = 0; layer < layers; ++layer) {
                found += is_attention(kinds[layer % kinds.size()]) ? 1U : 0U;
            }
            return found;
        }
    }
    return layers;
}

/// The activation tells whether an mlp has a gate, not the norm: silu has one (also Cohere and OLMo with layer norms),
/// relu, its square and xielu have none (also Arcee and Apertus with RMS norms). With gelu only models with RMS norms
/// have one (Gemma). DBRX has one and does not tell its activation.
bool has_gated_mlp(ModelReader const& model, bool rms_norm) {
    std::string const activation =
        model.text({"hidden_act", "activation_function", "hidden_activation", "mlp_hidden_act"});
    bool const gates = activation == "silu" || activation == "swish" || activation == "swiglu" || activation == "geglu";
    return gates || model.part("ffn_config").has({"moe_num_experts"}) ||
           (rms_norm && !activation.starts_with("relu") && activation != "xielu");
}

/// Whether a layer whose mlp is of this kind has experts.
bool has_experts(std::string const& kind) {
    return kind == "sparse" || kind.ends_with("moe") || kind == "E" || kind == "1";
}

/// Counts layers without experts: those whose kind says so (Nemotron-H, MiMo; transformers 5), the first ones
/// (DeepSeek, Ernie), all but every n-th (Mixtral; Qwen, which also lists some), or all but every n-th from an offset
/// on (Jamba).
std::uint64_t layers_without_experts(ModelReader const& model, std::uint64_t layers) {
    for (char const* name : {"mlp_layer_types", "layers_block_type", "hybrid_override_pattern", "moe_layer_freq"}) {
        std::vector<std::string> kinds = model.layer_kinds(name);
        if (std::any_of(kinds.begin(), kinds.end(), [](std::string const& kind) {
                return has_experts(kind) || kind == "dense" || kind == "mlp" || kind == "-";
            })) {
            kinds.resize(std::min<std::size_t>(kinds.size(), layers));
            return layers - static_cast<std::uint64_t>(std::count_if(kinds.begin(), kinds.end(), has_experts));
        }
    }
    if (std::uint64_t const period = model.size({"expert_layer_period"}); period > 0) {
        return layers - every_nth(period, model.size({"expert_layer_offset"}), layers);
    }
    std::uint64_t const step = std::max<std::uint64_t>(
        model.size({"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_frequency", "moe_layer_interval"}),
        1);
    std::uint64_t const first =
        std::min(model.size({"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"}), layers);
    std::vector<std::uint64_t> const listed = model.sizes("mlp_only_layers", 0);
    auto const more = std::count_if(listed.begin(), listed.end(), [&](std::uint64_t layer) {
        return layer >= first && layer < layers && (layer - first + 1) % step == 0;
    });
    return std::min(layers, layers - (layers - first) / step + static_cast<std::uint64_t>(more));
}

std::optional<Element> weights_in(ModelReader const& model) {
    std::string const type = model.text({"torch_dtype", "dtype"});
    return type == "bfloat16"  ? std::optional(Element::bf16)
           : type == "float16" ? std::optional(Element::fp16)
           : type == "float32" ? std::optional(Element::fp32)
                               : std::nullopt;
}

/// Llama's params.json leaves it to its program (meta-llama/llama, model.py, class FeedForward): two thirds of 4
/// hidden, times `ffn_dim_multiplier`, rounded up to `multiple_of`.
std::uint64_t mlp_of_llama(ModelReader const& model, std::uint64_t hidden) {
    std::uint64_t const unit = model.size({"multiple_of"});
    if (unit == 0) {
        return 0;
    }
    std::uint64_t const two_thirds = 8 * hidden / 3;
    auto const width = static_cast<std::uint64_t>(static_cast<double>(two_thirds) * model.factor("ffn_dim_multiplier"));
    return (width + unit - 1) / unit * unit;
}

/// As `whole` says, of models of text and pictures too. Where a config.json leaves it out, as the classes of
/// transformers have it: tied in GPT-2 and what follows it, and in Gemma.
bool ties_embeddings(ModelReader const& whole, ModelReader const& model, bool rms_norm) {
    for (ModelReader const& told : {whole, model}) {
        if (told.has({"tie_word_embeddings"})) {
            return told.is_true({"tie_word_embeddings"});
        }
    }
    return model.has({"model_type"}) && (!rms_norm || model.text({"model_type"}).starts_with("gemma"));
}

/// Falcon before its new architecture has one of each, whatever num_kv_heads says (transformers, FalconAttention).
std::uint64_t key_value_heads(ModelReader const& model, std::uint64_t heads) {
    std::uint64_t told =
        model.size({"num_key_value_heads", "n_kv_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num"});
    told = told == 0 ? model.part("attn_config").size({"kv_n_heads"}) : told;
    bool const shared = model.is_true({"multi_query"}) && !model.is_true({"new_decoder_architecture"});
    if (shared && (told == 0 || model.text({"model_type"}) == "falcon")) {
        return 1;
    }
    return told == 0 ? heads : told;
}

/// Rows of learned positions, as the classes of transformers have them: those of OPT begin at 2, and GPT-J and CodeGen
/// rotate.
std::uint64_t learned_positions(ModelReader const& model) {
    std::string const type = model.text({"model_type"});
    if (type == "opt" || type == "gpt_neo") {
        return model.size({"max_position_embeddings"}) + (type == "opt" ? 2 : 0);
    }
    return model.has({"rotary_dim"}) ? 0 : model.size({"n_positions"});
}

/// Whether some layers have heads of another number or width than the others (Gemma 4, MiMo).
bool has_two_kinds_of_heads(ModelReader const& model, ModelShape const& shape) {
    auto const differs = [&](FieldNames names, std::uint64_t own) {
        return model.has(names) && model.size(names) != own;
    };
    return differs({"swa_head_dim", "global_head_dim"}, shape.head_dim) ||
           differs({"swa_num_key_value_heads", "num_global_key_value_heads"}, shape.kv_heads) ||
           model.some_entry_has("per_layer_config", {"head_dim", "num_attention_heads", "num_key_value_heads"});
}

/// A head of latent attention has values of a width of its own; "head_dim" beside it is that of its rotated part (GLM).
void read_attention(ModelReader const& model, ModelShape& shape) {
    shape.heads = model.size({"num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"});
    shape.kv_heads = key_value_heads(model, shape.heads);
    shape.kv_lora = model.size({"kv_lora_rank"});
    if (shape.kv_lora > 0) {
        shape.q_lora = model.size({"q_lora_rank"});
        shape.rope_dim = model.size({"qk_rope_head_dim"});
        shape.nope_dim = model.size({"qk_nope_head_dim"});
        shape.head_dim = model.size({"v_head_dim"});
    }
    if (shape.head_dim == 0) {
        shape.head_dim = model.size({"head_dim", "v_head_dim", "d_kv", "attention_head_dim", "kv_channels"});
    }
    if (shape.head_dim == 0 && shape.heads > 0 && shape.hidden % shape.heads == 0) {
        shape.head_dim = shape.hidden / shape.heads;
    }
    shape.head_dim = has_two_kinds_of_heads(model, shape) ? 0 : shape.head_dim;
    shape.query_key_value_bias = model.is_true({"attention_bias", "qkv_bias"}) ||
                                 model.text({"model_type"}).starts_with("qwen2");  // transformers, Qwen2Attention
}

void read_experts(ModelReader const& model, ModelShape& shape) {
    shape.experts = model.size({"n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"});
    if (shape.experts == 0) {
        return;
    }
    shape.top_k = model.size({"num_experts_per_tok", "num_experts_per_token", "moe_top_k", "moe_topk", "moe_k"});
    shape.dense_layers = layers_without_experts(model, shape.layers);
    shape.dense_between = layers_without_experts(model, shape.dense_layers) < shape.dense_layers;
    shape.expert_mlp =
        model.size({"moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size", "ffn_hidden_size"});
    shape.shared_experts =
        model.size({"n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert"});
    if (shape.shared_experts == 0 && shape.expert_mlp > 0) {  // Qwen: one, as wide as several
        shape.shared_experts =
            model.size({"shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim"}) /
            shape.expert_mlp;
    }
    if (model.text({"model_type"}).starts_with("llama4")) {  // transformers, Llama4TextMoe
        shape.shared_experts = 1;
    }
    shape.expert_groups = model.size({"n_group", "num_expert_group"});
    shape.group_limit = model.size({"topk_group"});
    // Only DeepSeek-V2's class takes the best one, and it tells its method.
    std::string const method = model.text({"topk_method"});
    shape.group_of_two_best = method == "noaux_tc" || (method.empty() && shape.expert_groups > 0);
}

/// Each as torchrec's EmbeddingBagConfig, or all of them as two arguments of dlrm_main.py.
std::vector<EmbeddingTable> read_tables(ModelJson const& json, std::string const& source) {
    std::vector<EmbeddingTable> tables;
    ModelReader const model(json, source);
    for (std::uint64_t const rows : model.sizes("num_embeddings_per_feature")) {
        tables.push_back({rows, model.size({"embedding_dim"})});
    }
    auto const list = json.find("tables");
    if (tables.empty() && list != json.end() && list->is_array()) {
        for (ModelJson const& table : *list) {
            ModelReader const each(table, source);
            tables.push_back({each.size({"num_embeddings"}), each.size({"embedding_dim"})});
        }
    }
    if (std::any_of(tables.begin(), tables.end(),
                    [](EmbeddingTable const& table) { return table.rows == 0 || table.dim == 0; })) {
        throw UsageError(fmt::format("{}: a table has no num_embeddings or no embedding_dim", source));
    }
    return tables;
}

void read_recommendation(ModelJson const& json, std::string const& source, RecommendationModel& recommendation) {
    ModelReader const model(json, source);
    recommendation.tables = read_tables(json, source);
    recommendation.indices_per_bag = model.sizes("multi_hot_sizes");
    recommendation.dense_layers = model.sizes("dense_arch_layer_sizes");
    recommendation.over_layers = model.sizes("over_arch_layer_sizes");
    std::string const interaction = model.text({"interaction_type"});
    if (interaction == "dcn") {
        recommendation.cross_layers = model.size({"dcn_num_layers"});
        recommendation.cross_rank = model.size({"dcn_low_rank_dim"});
        if (recommendation.cross_layers == 0 || recommendation.cross_rank == 0) {
            throw UsageError(fmt::format("{}: interaction_type dcn needs dcn_num_layers and dcn_low_rank_dim", source));
        }
    } else if (!interaction.empty() && interaction != "original") {
        throw UsageError(fmt::format("{}: interaction_type '{}': DLMB knows original and dcn", source, interaction));
    }
}

ModelShape shape_from(ModelJson const& whole, std::string const& source, std::string const& name) {
    ModelJson const& json = text_model(whole);
    ModelReader const model(json, source);
    if (ModelReader(whole, source).is_true({"is_encoder_decoder"}) || model.is_true({"is_encoder_decoder"})) {
        throw UsageError(
            fmt::format("{}: is an encoder with a decoder; DLMB knows models that are one decoder", source));
    }
    ModelShape shape;
    shape.source = source;
    shape.name = name;
    shape.hidden = model.size({"hidden_size", "n_embd", "d_model", "dim"});
    shape.layers = model.size({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
    shape.layers = shape.layers == 0 ? model.layer_kinds("layers_block_type").size() : shape.layers;
    std::uint64_t const with_attention = std::min(layers_with_attention(model, shape.layers), shape.layers);
    shape.attention_free = shape.layers - with_attention;
    shape.shared_keys = std::min(model.size({"num_kv_shared_layers"}), with_attention);
    shape.other_mixers = shape.attention_free > 0 || model.has({"mamba_d_ssm"});  // Falcon-H1
    read_attention(model, shape);
    shape.positions = learned_positions(model);
    shape.mlp = model.size({"intermediate_size_mlp", "dense_intermediate_size", "intermediate_size", "ffn_dim",
                            "n_inner", "ffn_hidden_size", "hidden_dim", "d_ff"});
    shape.mlp = shape.mlp == 0 ? mlp_of_llama(model, shape.hidden) : shape.mlp;
    shape.vocabulary = model.size({"vocab_size"});
    shape.rms_norm = model.has({"rms_norm_eps", "norm_eps"}) || model.is_true({"rmsnorm"});
    shape.gated_mlp = has_gated_mlp(model, shape.rms_norm);
    shape.tied_embeddings = ties_embeddings(ModelReader(whole, source), model, shape.rms_norm);
    shape.element = weights_in(model);
    shape.element = shape.element ? shape.element : weights_in(ModelReader(whole, source));
    read_experts(model.part("ffn_config"), shape);
    read_recommendation(json, source, shape.recommendation);
    if (shape.hidden == 0 && shape.recommendation.tables.empty()) {
        throw UsageError(
            fmt::format("{}: tells no hidden size (hidden_size, n_embd, d_model or dim) and no embedding tables; give "
                        "the config.json of a transformer, Llama's params.json, or the arguments of torchrec's DLRM",
                        source));
    }
    return shape;
}

}  // namespace

ModelShape read_model(std::filesystem::path const& path) {
    std::string const source = path.string();
    ModelJson json;
    try {
        json = ModelJson::parse(read_document(path));
    } catch (ModelJson::exception const& error) {
        throw UsageError(fmt::format("{}: is no JSON: {}", source, one_line(error.what())));
    }
    if (!json.is_object()) {
        throw UsageError(fmt::format("{}: is no JSON object; give the config.json of a model", source));
    }
    ModelReader const whole(json, source);
    std::string const type = whole.text({"model_type"});
    return shape_from(json, source, type.empty() ? path.stem().string() : type);
}

ModelShape joined(ModelShape first, ModelShape const& second) {
    first.source = first.source.empty() ? second.source : first.source;
    first.name = first.name.empty() ? second.name : first.name;
    for (auto const size : {&ModelShape::hidden, &ModelShape::layers, &ModelShape::heads, &ModelShape::kv_heads,
                            &ModelShape::head_dim, &ModelShape::mlp, &ModelShape::vocabulary, &ModelShape::experts,
                            &ModelShape::top_k, &ModelShape::expert_groups, &ModelShape::group_limit}) {
        first.*size = first.*size == 0 ? second.*size : first.*size;
    }
    first.element = first.element ? first.element : second.element;
    return first;
}

}  // namespace dlmb
