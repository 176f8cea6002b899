// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/formats/model_shape/model_file.hpp"
#include "patterns/model_lint.hpp"
#include "patterns/trained_model.hpp"
#include "tests/unit/patterns/registered.hpp"
#include "tests/unit/record/temporary_folder.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace dlmb {
namespace {

ModelShape read_text(std::string const& text) {
    record::TemporaryFolder const folder;
    record::write_file(folder / "config.json", text);
    return read_model(folder / "config.json");
}

std::string refused(std::string const& text) {
    return usage_error_of([&] { (void)read_text(text); });
}

ModelDerived derived(std::string_view pattern, ModelShape const& model, std::string_view parallel = "") {
    return type_named(pattern).of_model(model, parse_parallelism(parallel, "--parallel"));
}

Parameters of(std::string_view pattern, ModelShape const& model, std::string_view parallel = "") {
    ModelDerived const result = derived(pattern, model, parallel);
    EXPECT_EQ(result.missing, Parameters{});
    return result.values;
}

bool has(std::vector<ShapeFinding> const& findings, ShapeFault fault, std::string_view words) {
    return std::any_of(findings.begin(), findings.end(), [&](ShapeFinding const& finding) {
        return finding.fault == fault && finding.what.find(words) != std::string::npos;
    });
}

std::string const llama = R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
    "rms_norm_eps": 1e-05, "torch_dtype": "bfloat16", "tie_word_embeddings": false})";
std::string const mixture = R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
    "num_attention_heads": 128, "vocab_size": 129280, "n_routed_experts": 256, "num_experts_per_tok": 8,
    "first_k_dense_replace": 3, "n_group": 8, "topk_group": 4, "topk_method": "noaux_tc", "rms_norm_eps": 1e-06})";

TEST(ModelFile, TellsASizeByAnyOfTheNamesThatModelsGiveIt) {
    ModelShape const one = read_text(llama);
    EXPECT_EQ(one.name, "llama");
    EXPECT_EQ(one.kv_heads, 8U);
    EXPECT_EQ(one.head_dim, 128U);
    EXPECT_EQ(one.element, Element::bf16);
    ModelShape const other = read_text(R"({"n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257})");
    EXPECT_EQ(other.hidden, 768U);
    EXPECT_EQ(other.kv_heads, 12U);
    EXPECT_FALSE(other.rms_norm);
    EXPECT_EQ(read_text(R"({"text_config": {"hidden_size": 5120}, "vision_config": {"hidden_size": 8}})").hidden,
              5120U);
    EXPECT_EQ(read_text(R"({"dim": 64, "n_layers": 2})").layers, 2U) << "params.json of Llama";
}

// params.json of Llama 3 8B and Llama 2 70B: widths 14336 and 28672.
TEST(ModelFile, ComputesTheMlpThatParamsOfLlamaDoNotTell) {
    ModelShape const llama3 = read_text(R"({"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8,
        "vocab_size": 128256, "multiple_of": 1024, "ffn_dim_multiplier": 1.3, "norm_eps": 1e-05})");
    EXPECT_EQ(gradients_of(llama3, {}), 8'030'261'248U);
    EXPECT_EQ(of("reshard", llama3).at("mlp"), "14336");
    EXPECT_EQ(of("reshard", llama3).at("gated"), "on");
    EXPECT_EQ(read_text(R"({"dim": 8192, "multiple_of": 4096, "ffn_dim_multiplier": 1.3})").mlp, 28672U);
    EXPECT_EQ(read_text(R"({"dim": 4096, "multiple_of": 256})").mlp, 11008U) << "LLaMA 7B";
    ModelShape const without = read_text(R"({"dim": 64, "n_layers": 2, "n_heads": 1, "vocab_size": 9, "norm_eps": 1})");
    EXPECT_THROW((void)gradients_of(without, {}), UsageError);
    EXPECT_EQ(derived("reshard", without).missing.count("mlp"), 1U);
    ModelShape const llama2 = read_text(R"({"dim": 64, "vocab_size": -1, "multiple_of": 8, "norm_eps": 1})");
    EXPECT_EQ(llama2.vocabulary, 0U) << "its tokenizer tells it";
    EXPECT_EQ(derived("tp_allreduce", llama2).missing.count("vocabulary"), 1U);
    for (char const* wrong : {"0", "-1", "1e300", "\"x\""}) {
        std::string const text = fmt::format(R"({{"dim": 64, "multiple_of": 8, "ffn_dim_multiplier": {}}})", wrong);
        EXPECT_NE(refused(text).find("'ffn_dim_multiplier' is"), std::string::npos) << wrong;
    }
}

// transformers, configuration_utils.py: the default is tied; LlamaConfig and many after it have another.
TEST(ModelFile, TiesEmbeddingsThatTransformersTies) {
    EXPECT_TRUE(read_text(R"({"model_type": "gpt2", "n_embd": 768})").tied_embeddings);
    EXPECT_TRUE(read_text(R"({"model_type": "gemma", "hidden_size": 64, "rms_norm_eps": 1})").tied_embeddings);
    EXPECT_FALSE(read_text(R"({"model_type": "llama", "hidden_size": 64, "rms_norm_eps": 1})").tied_embeddings);
    EXPECT_FALSE(
        read_text(R"({"model_type": "gpt_neox", "hidden_size": 64, "tie_word_embeddings": false})").tied_embeddings);
    EXPECT_TRUE(read_text(R"({"tie_word_embeddings": true,
        "text_config": {"hidden_size": 64, "tie_word_embeddings": false}})")
                    .tied_embeddings)
        << "as transformers ties Mistral 3";
    EXPECT_EQ(read_text(R"({"torch_dtype": "float16", "text_config": {"hidden_size": 64}})").element, Element::fp16);
}

// transformers, class JambaConfig: experts where i mod period is the offset; Snowflake's ArcticDecoderLayer: where i +
// 1 is a multiple; Qwen3MoeDecoderLayer: the same, but for those that are listed. NemotronHConfig: E; Glm4MoeLiteConfig
// and others: sparse, or from the first ones on (AfmoeConfig, Ernie4_5_MoeConfig).
TEST(ModelFile, KnowsWhichLayersHaveExperts) {
    EXPECT_EQ(read_text(mixture).dense_layers, 3U);
    auto const dense = [](std::string const& more) {
        return read_text(R"({"hidden_size": 64, "num_hidden_layers": 24, "num_experts": 60, )" + more + "}")
            .dense_layers;
    };
    EXPECT_EQ(dense(R"("decoder_sparse_step": 2)"), 12U);
    EXPECT_EQ(dense(R"("moe_layer_frequency": 2)"), 12U);
    EXPECT_EQ(dense(R"("expert_layer_period": 5, "expert_layer_offset": 4)"), 20U) << "4, 9, 14, 19 have some";
    EXPECT_EQ(dense(R"("expert_layer_period": 5)"), 19U) << "0, 5, 10, 15, 20 have some";
    EXPECT_EQ(dense(R"("decoder_sparse_step": 1, "mlp_only_layers": [0, 1, 2])"), 3U);
    EXPECT_EQ(dense(R"("decoder_sparse_step": 2, "mlp_only_layers": [0, 1, 99])"), 13U) << "0 had none anyway";
    EXPECT_EQ(dense(R"("hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEM")"), 24U - 10U) << "10 E";
    EXPECT_EQ(dense(R"("moe_layer_freq": 1)"), 0U) << "DeepSeek";
    EXPECT_EQ(dense(R"("num_dense_layers": 2)"), 2U);
    EXPECT_EQ(dense(R"("moe_layer_start_index": 3, "moe_layer_interval": 1)"), 3U);
    for (char const* listed : {R"("mlp_layer_types": ["dense", "sparse", "sparse"])", R"("moe_layer_freq": [0, 1, 1])",
                               R"("layers_block_type": ["mlp", "moe", "moe"])"}) {
        ModelShape const three =
            read_text(fmt::format(R"({{"hidden_size": 64, "num_hidden_layers": 3, "num_experts": 8, {}}})", listed));
        EXPECT_EQ(three.dense_layers, 1U) << listed;
        EXPECT_FALSE(three.dense_between) << listed;
    }
    EXPECT_NE(refused(R"({"hidden_size": 64, "num_experts": 8, "mlp_only_layers": [-1]})").find("from 0 to 2^32"),
              std::string::npos);
}

// Of pipeline stages, each has the bytes of its own layers: reshard takes its dense layers for the first ones.
TEST(ModelFile, GivesReshardNoDenseLayersThatAreNotTheFirstOnes) {
    auto const missing = [](std::string const& more) {
        return derived("reshard", read_text(R"({"hidden_size": 64, "num_hidden_layers": 24, "num_attention_heads": 8,
            "vocab_size": 9, "intermediate_size": 64, "num_experts": 60, "moe_intermediate_size": 8, )" +
                                            more + "}"))
            .missing;
    };
    for (char const* first : {R"("first_k_dense_replace": 3)", R"("mlp_only_layers": [0, 1, 2])",
                              R"("decoder_sparse_step": 25)", R"("decoder_sparse_step": 1)"}) {
        EXPECT_EQ(missing(first), Parameters{}) << first;
    }
    for (char const* between : {R"("decoder_sparse_step": 2)", R"("mlp_only_layers": [1])",
                                R"("expert_layer_period": 2, "expert_layer_offset": 1)"}) {
        EXPECT_EQ(missing(between).count("dense-layers"), 1U) << between;
    }
}

// transformers, JambaConfig: attention where i mod period is the offset; Qwen3NextConfig: where i + 1 is a multiple.
TEST(ModelFile, KnowsWhichLayersHaveAttention) {
    auto const hybrid = [](std::string const& more) {
        return read_text(R"({"hidden_size": 64, "num_hidden_layers": 31, "num_attention_heads": 8, "vocab_size": 9,
            "intermediate_size": 64, "rms_norm_eps": 1e-06, )" +
                         more + "}");
    };
    ModelShape const jamba = hybrid(R"("attn_layer_period": 8, "attn_layer_offset": 4)");
    EXPECT_EQ(of("kv_transfer", jamba).at("layers"), "4") << "4, 12, 20, 28";
    EXPECT_EQ(of("kv_transfer", hybrid(R"("full_attention_interval": 4)")).at("layers"), "7") << "3, 7, ... 27";
    EXPECT_EQ(of("kv_transfer", hybrid(R"("tie_word_embeddings": true)")).at("layers"), "31");
    EXPECT_EQ(derived("reshard", jamba).missing.count("heads"), 1U) << "other weights in the other layers";
    EXPECT_EQ(derived("tp_allreduce", jamba).missing.count("layers"), 1U);
    EXPECT_EQ(derived("dp_gradients", jamba).missing.count("model"), 1U);
    for (auto const& [listed, layers] : {
             std::pair(R"("attn_layer_indices": [9, 18, 27])", "3"),                           // Bamba
             std::pair(R"("full_attn_idxs": [2, 5, 8, 10, 12, 14])", "6"),                     // LFM2
             std::pair(R"("linear_attn_config": {"full_attn_layers": [4, 8]})", "2"),          // Kimi-Linear
             std::pair(R"("hybrid_override_pattern": "M-M-*-M-M-M*-M-M-M*-M-M-M-M*-")", "4"),  // Nemotron-H
             std::pair(R"("attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1])", "3"),                  // MiniMax
             std::pair(R"("layer_types": ["mamba", "mamba", "mamba", "attention"])", "7"),     // Granite 4
             std::pair(R"("layer_types": ["linear_attention", "full_attention"])", "15"),      // Qwen3.5
             std::pair(R"("layer_types": ["sliding_attention", "full_attention"])", "31"),     // gpt-oss
             std::pair(R"("_block_types": ["recurrent", "recurrent", "attention"])", "10"),    // RecurrentGemma
             std::pair(R"("num_kv_shared_layers": 15)", "16"),  // Gemma 3n: the last ones use another's
             std::pair(R"("mamba_d_ssm": 1024)", "31"),         // Falcon-H1: beside the attention
         }) {
        EXPECT_EQ(of("kv_transfer", hybrid(listed)).at("layers"), layers) << listed;
    }
    ModelShape const sharing = hybrid(R"("num_kv_shared_layers": 15)");
    EXPECT_EQ(of("sequence_parallel", sharing).at("layers"), "31") << "each attends";
    EXPECT_EQ(of("tp_allreduce", sharing).at("layers"), "31");
    EXPECT_EQ(derived("dp_gradients", sharing).missing.count("model"), 1U) << "fewer weights";
    EXPECT_EQ(derived("reshard", sharing).missing.count("heads"), 1U);
    EXPECT_EQ(derived("kv_transfer", hybrid(R"("state_size": 16)")).missing.count("layers"), 1U) << "Mamba";
    EXPECT_EQ(derived("dp_gradients", hybrid(R"("mamba_d_ssm": 1024)")).missing.count("model"), 1U);
    EXPECT_NE(derived("tp_allreduce", jamba).missing.at("layers").find("give --layers: half the number of mixers"),
              std::string::npos);
    EXPECT_EQ(read_text(R"({"hidden_size": 64, "layers_block_type": ["mamba", "mlp"]})").layers, 2U) << "Nemotron-H";
}

// Gemma4TextConfig, published and as transformers 5 writes it; MiMo-V2-Flash.
TEST(ModelFile, TellsNoDimensionOfHeadsOfTwoKinds) {
    for (auto const& [more, kinds] :
         {std::pair(R"("global_head_dim": 512)", 1U), std::pair(R"("swa_head_dim": 128)", 0U),
          std::pair(R"("swa_num_key_value_heads": 8)", 1U),
          std::pair(R"("per_layer_config": {"05": {"head_dim": 512}})", 1U),
          std::pair(R"("per_layer_config": {"05": {"rope_theta": 1}})", 0U)}) {
        ModelShape const model = read_text(fmt::format(R"({{"hidden_size": 2304, "num_hidden_layers": 30,
            "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 128, {}}})",
                                                       more));
        EXPECT_EQ(derived("kv_transfer", model).missing.count("head-dim"), kinds) << more;
        EXPECT_FALSE(has(lint(model, {}), ShapeFault::does_not_fit, "no whole dimension")) << more;
    }
}

// transformers: CohereMLP (layer norms) and GemmaMLP have a gate, ArceeMLP, ApertusMLP (RMS norms) and NemotronMLP
// none.
TEST(ModelFile, TellsAGateByTheActivationAndNotByTheNorm) {
    auto const gated = [](std::string const& more) {
        return read_text(R"({"hidden_size": 64, )" + more + "}").gated_mlp;
    };
    EXPECT_TRUE(gated(R"("hidden_act": "silu", "layer_norm_eps": 1e-05)"));
    EXPECT_FALSE(gated(R"("hidden_act": "relu2", "rms_norm_eps": 1e-05)"));
    EXPECT_FALSE(gated(R"("mlp_hidden_act": "relu2", "norm_eps": 1e-05)"));
    EXPECT_FALSE(gated(R"("hidden_act": "xielu", "rms_norm_eps": 1e-05)"));
    EXPECT_TRUE(gated(R"("hidden_act": "gelu_pytorch_tanh", "rms_norm_eps": 1e-06)"));
    EXPECT_FALSE(gated(R"("activation_function": "gelu_new", "layer_norm_epsilon": 1e-05)"));
    EXPECT_TRUE(gated(R"("rms_norm_eps": 1e-06)")) << "Llama's params.json names no activation";
}

// transformers, FalconAttention: num_kv_heads only if new_decoder_architecture or not multi_query.
TEST(ModelFile, ReadsTheHeadsOfKeysAndValuesThatTheFileTells) {
    auto const heads = [](std::string const& more) {
        return read_text(R"({"hidden_size": 8192, "num_attention_heads": 128, )" + more + "}").kv_heads;
    };
    EXPECT_EQ(heads(R"("multi_query": true, "new_decoder_architecture": true, "num_kv_heads": 8)"), 8U) << "Falcon 40B";
    EXPECT_EQ(heads(R"("model_type": "falcon", "multi_query": true, "num_kv_heads": 71)"), 1U) << "Falcon 7B";
    EXPECT_EQ(heads(R"("n_head_kv": 8)"), 8U);
    EXPECT_EQ(heads(R"("multi_query": true, "multi_query_group_num": 2)"), 2U);
    EXPECT_EQ(heads(R"("multi_query": true)"), 1U);
    ModelShape const dbrx = read_text(R"({"d_model": 6144, "n_heads": 48, "attn_config": {"kv_n_heads": 8},
        "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})");
    EXPECT_EQ(dbrx.kv_heads, 8U);
    EXPECT_EQ(dbrx.experts, 16U);
    EXPECT_EQ(dbrx.top_k, 4U);
    EXPECT_EQ(dbrx.expert_mlp, 10752U);
    EXPECT_TRUE(dbrx.gated_mlp);
    EXPECT_EQ(read_text(R"({"hidden_size": 64, "attention_heads": 16})").heads, 16U) << "XGLM";
    EXPECT_EQ(read_text(R"({"hidden_size": 2048, "num_attention_heads": 32, "kv_channels": 128})").head_dim, 128U);
}

// Mixtral, Llama 4 Maverick, Ernie 4.5, Hunyuan-A13B and Kimi-Linear, config.json: each with names of its own.
TEST(ModelFile, ReadsExpertsByAnyOfTheNamesThatModelsGiveThem) {
    auto const model = [](std::string const& more) { return read_text(R"({"hidden_size": 64, )" + more + "}"); };
    EXPECT_EQ(model(R"("num_local_experts": 8, "intermediate_size": 14336)").expert_mlp, 14336U);
    ModelShape const llama4 = model(R"("model_type": "llama4_text", "num_local_experts": 128, "intermediate_size": 8192,
        "intermediate_size_mlp": 16384)");
    EXPECT_EQ(llama4.expert_mlp, 8192U);
    EXPECT_EQ(llama4.mlp, 16384U);
    EXPECT_EQ(llama4.shared_experts, 1U) << "Llama4TextMoe";
    ModelShape const ernie = model(R"("moe_num_experts": 64, "moe_k": 6, "moe_num_shared_experts": 2)");
    EXPECT_EQ(ernie.top_k, 6U);
    EXPECT_EQ(ernie.shared_experts, 2U);
    ModelShape const hunyuan = model(R"("num_experts": 64, "moe_topk": [8, 8], "num_shared_expert": [1, 1],
        "moe_intermediate_size": [3072, 3072])");
    EXPECT_EQ(hunyuan.top_k, 8U);
    EXPECT_EQ(hunyuan.shared_experts, 1U);
    EXPECT_EQ(hunyuan.expert_mlp, 3072U);
    EXPECT_NE(refused(R"({"hidden_size": 64, "num_experts": 64, "moe_intermediate_size": [1536, 512]})")
                  .find("nor a list of equal ones"),
              std::string::npos)
        << "Ernie 4.5 VL";
    ModelShape const kimi = model(R"("num_experts": 256, "num_expert_group": 8, "topk_group": 4)");
    EXPECT_EQ(kimi.expert_groups, 8U);
    EXPECT_TRUE(kimi.group_of_two_best) << "KimiLinearTopkRouter";
    EXPECT_FALSE(model(R"("num_experts": 160, "n_group": 8, "topk_method": "group_limited_greedy")").group_of_two_best);
}

// zai-org/GLM-5 and openbmb/MiniCPM3-4B, config.json: MLA, whatever the model is called.
TEST(ModelFile, ReadsLatentAttention) {
    ModelShape const glm = read_text(R"({"hidden_size": 6144, "num_hidden_layers": 78, "num_attention_heads": 64,
        "num_key_value_heads": 64, "head_dim": 64, "kv_lora_rank": 512, "q_lora_rank": 2048, "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 192, "v_head_dim": 256, "vocab_size": 154880, "rms_norm_eps": 1e-05,
        "intermediate_size": 12288, "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
        "first_k_dense_replace": 3})");
    EXPECT_EQ(of("kv_transfer", glm),
              (Parameters{{"attention", "mla"}, {"layers", "78"}, {"kv-lora", "512"}, {"rope", "64"}}));
    ModelShape const unrotated = read_text(R"({"hidden_size": 64, "num_hidden_layers": 2, "kv_lora_rank": 8})");
    EXPECT_EQ(derived("kv_transfer", unrotated).missing.count("rope"), 1U);
    ModelDerived const weights = derived("reshard", glm);
    for (auto const& [name, value] : Parameters{{"kv-lora", "512"},
                                                {"q-lora", "2048"},
                                                {"rope-dim", "64"},
                                                {"expert-mlp", "2048"},
                                                {"shared-experts", "1"}}) {
        EXPECT_EQ(weights.values.at(name), value) << name;
    }
    EXPECT_EQ(weights.missing.size(), 1U);
    EXPECT_EQ(weights.missing.count("head-dim"), 1U) << "192 and 256 are two";
    ModelShape const cpm = read_text(R"({"hidden_size": 2560, "num_hidden_layers": 62, "num_attention_heads": 40,
        "kv_lora_rank": 256, "q_lora_rank": null, "qk_rope_head_dim": 32, "qk_nope_head_dim": 64, "vocab_size": 73448,
        "intermediate_size": 6400, "rms_norm_eps": 1e-05})");
    EXPECT_EQ(of("reshard", cpm).at("head-dim"), "64");
    EXPECT_NE(usage_error_of([&] { (void)gradients_of(cpm, {}); }).find("MLA"), std::string::npos);
    EXPECT_EQ(derived("reshard", read_text(mixture)).missing.count("expert-mlp"), 1U);
    EXPECT_EQ(read_text(R"({"hidden_size": 8, "num_experts": 60, "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632})")
                  .shared_experts,
              4U)
        << "Qwen1.5-MoE";
}

TEST(ModelFile, RefusesWhatIsNoModelInOneLine) {
    EXPECT_NE(refused("[1]").find("no JSON object"), std::string::npos);
    EXPECT_NE(refused("{").find("no JSON"), std::string::npos);
    EXPECT_NE(refused("{}").find("no hidden size"), std::string::npos);
    EXPECT_NE(refused(R"({"d_model": 1024, "is_encoder_decoder": true})").find("an encoder"), std::string::npos);
    EXPECT_NE(refused(R"({"hidden_size": -2})").find("'hidden_size' is -2"), std::string::npos);
    EXPECT_NE(refused(R"({"hidden_size": 1e300})").find("hidden_size"), std::string::npos);
    EXPECT_NE(refused(R"({"hidden_size": 18446744073709551615})").find("2^32"), std::string::npos);
    EXPECT_NE(refused(R"({"hidden_size": "4096"})").find("whole number"), std::string::npos);
    EXPECT_NE(refused(std::string(100'000, '[')).find("no JSON"), std::string::npos);
}

TEST(Parallelism, IsStrict) {
    EXPECT_EQ(parse_parallelism("tp=8,pp=4,ep=2,cp=3,dp=5", "--parallel").ep, 2U);
    for (char const* wrong : {"tp", "tp=", "tp=0", "tp=8,tp=4", "xp=1", "tp=1,,pp=2", "tp=8,", "tp=-1"}) {
        EXPECT_THROW((void)parse_parallelism(wrong, "--parallel"), UsageError) << wrong;
    }
}

TEST(ModelFile, GivesEachPatternItsParameters) {
    ModelShape const dense = read_text(llama);
    EXPECT_EQ(of("tp_allreduce", dense, "tp=8,pp=4"), (Parameters{{"hidden", "4096"},
                                                                  {"layers", "32"},
                                                                  {"vocabulary", "129024"},
                                                                  {"tp", "8"},
                                                                  {"pp", "4"},
                                                                  {"norm", "rmsnorm"},
                                                                  {"element", "bf16"}}));
    EXPECT_EQ(of("pipeline_p2p", dense, "pp=4"), (Parameters{{"hidden", "4096"}, {"pp", "4"}, {"element", "bf16"}}));
    EXPECT_EQ(of("sequence_parallel", dense, "cp=2").at("kv-heads"), "8");
    EXPECT_EQ(of("kv_transfer", dense, "tp=2"), (Parameters{{"layers", "32"},
                                                            {"kv-heads", "8"},
                                                            {"head-dim", "128"},
                                                            {"prefill-tp", "2"},
                                                            {"decode-tp", "2"},
                                                            {"element", "bf16"}}));
    EXPECT_EQ(of("dp_gradients", dense).at("model"),
              "transformer:layers=32:hidden=4096:mlp=14336:key-values=1024:vocabulary=128256");
    EXPECT_EQ(of("reshard", read_text(R"({"n_embd": 8, "n_layer": 1, "n_head": 1, "n_inner": 9, "vocab_size": 9})"))
                  .at("gated"),
              "off");
    EXPECT_EQ(of("reshard", read_text(R"({"n_embd": 8, "n_layer": 1, "n_head": 1, "vocab_size": 9})")).at("mlp"), "32");
    EXPECT_EQ(derived("moe_alltoall", dense).missing.count("experts"), 1U) << "it has none";
    Parameters const moe = of("moe_alltoall", read_text(mixture), "ep=8");
    EXPECT_EQ(moe.at("layers"), "58");
    EXPECT_EQ(moe.at("expert-groups"), "8");
    EXPECT_EQ(moe.at("group-score"), "best_two");
    EXPECT_EQ(derived("dp_gradients", read_text(mixture)).missing.count("model"), 1U);
    EXPECT_EQ(of("sparse_allreduce", dense, "tp=8"), (Parameters{{"elements", "1004802048"}}));
    EXPECT_EQ(derived("sparse_allreduce", dense).missing.count("elements"), 1U) << "more than 2^32 gradients";
    EXPECT_EQ(
        of("collective", dense),
        (Parameters{{"operation", "allreduce"}, {"message-size", "16060522496:16060522496"}, {"element", "bf16"}}));
    EXPECT_THROW((void)of("dlrm_exchange", dense), UsageError) << "it has no tables";
}

TEST(ModelFile, IsRefusedForAPatternOfWhichNoParameterFollowsFromAModel) {
    PatternType type = *pattern_types().front();
    type.of_model = nullptr;
    EXPECT_NE(usage_error_of([&] { (void)derive(type, read_text(llama), {}, {}); }).find("no parameter follows"),
              std::string::npos);
}

TEST(ModelFile, DoesNotRefuseWhatIsGivenInstead) {
    PatternType const& sparse = type_named("sparse_allreduce");
    Parameters const elements{{"elements", "4096"}};
    EXPECT_THROW((void)derive(sparse, read_text(llama), {}, {}), UsageError) << "more than 2^32 gradients";
    EXPECT_TRUE(derive(sparse, read_text(llama), {}, elements).values.empty());
    EXPECT_TRUE(derive(sparse, read_text(mixture), {}, elements).values.empty());
    PatternType const& gradients = type_named("dp_gradients");
    Parallelism const stages = parse_parallelism("pp=4", "--parallel");
    EXPECT_THROW((void)derive(gradients, read_text(llama), stages, {}), UsageError);
    EXPECT_EQ(derive(gradients, read_text(llama), stages, {{"dp", "0"}}).values.count("dp"), 0U) << "all ranks";
}

// A part that is said to be unused changes nothing, and one that is used changes something.
TEST(ModelFile, EachPatternSaysWhichPartsOfParallelItDoesNotUse) {
    for (PatternType const* const type : pattern_types()) {
        if (type->name == "dlrm_exchange" || type->of_model == nullptr) {
            continue;  // that one refuses all
        }
        ModelShape const model = read_text(
            type->name == "moe_alltoall" ? mixture
                                         : R"({"n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50304})");
        for (ParallelPart const& part : parallel_parts) {
            Parallelism with;
            with.*part.ranks = 4;
            ModelDerived const derived = type->of_model(model, with);
            bool const used = std::find(derived.unused.begin(), derived.unused.end(), fmt::format("{}=4", part.name)) ==
                              derived.unused.end();
            EXPECT_EQ(used, derived.values != type->of_model(model, {}).values) << type->name << ' ' << part.name;
        }
    }
}

std::string const recommendation = R"({"num_embeddings_per_feature": "40000000,39060,39060", "embedding_dim": 128,
    "dense_arch_layer_sizes": "512,256,128", "over_arch_layer_sizes": [1024, 1], "multi_hot_sizes": "3,2,1")";

// The widths of the MLPs' inputs are those of torchrec/models/dlrm.py: 128 + 3 * 4 / 2, and 4 * 128.
TEST(ModelFile, GivesTheTablesAndLayersOfRecommendationModels) {
    EXPECT_EQ(of("dlrm_exchange", read_text(recommendation + "}")), (Parameters{{"tables", "3"},
                                                                                {"rows", "40000000+2x39060"},
                                                                                {"dim", "3x128"},
                                                                                {"pooling", "3+2+1"},
                                                                                {"bottom", "13-512-256-128"},
                                                                                {"top", "134-1024-1"}}));
    Parameters const crossed =
        of("dlrm_exchange",
           read_text(recommendation + R"(, "interaction_type": "dcn", "dcn_num_layers": 3, "dcn_low_rank_dim": 512})"));
    EXPECT_EQ(crossed.at("top"), "512-1024-1");
    EXPECT_EQ(crossed.at("cross"), "3x512");
    ModelDerived const tables_only =
        derived("dlrm_exchange", read_text(R"({"tables": [{"num_embeddings": 10, "embedding_dim": 4, "name": "a"},
                                                  {"num_embeddings": 20, "embedding_dim": 8, "name": "b"}]})"));
    EXPECT_EQ(tables_only.values, (Parameters{{"tables", "2"}, {"rows", "10+20"}, {"dim", "4+8"}}));
    EXPECT_EQ(tables_only.missing.size(), 2U) << "its layers";
    EXPECT_NE(refused(R"({"tables": [{"num_embeddings": 10}]})").find("no embedding_dim"), std::string::npos);
    EXPECT_NE(refused(R"({"tables": [7]})").find("no num_embeddings"), std::string::npos);
    EXPECT_EQ(derived("dlrm_exchange", read_text(R"({"num_embeddings_per_feature": "10, 20 ,30", "embedding_dim": 4})"))
                  .values.at("rows"),
              "10+20+30");
    for (char const* wrong : {"10,x", "10, ", "1 0,20", ", ", " "}) {
        EXPECT_NE(refused(fmt::format(R"({{"num_embeddings_per_feature": "{}", "embedding_dim": 4}})", wrong))
                      .find("no list"),
                  std::string::npos)
            << wrong;
    }
    EXPECT_THROW((void)of("dlrm_exchange", read_text(recommendation + "}"), "tp=2"), UsageError);
    EXPECT_EQ(derived("tp_allreduce", read_text(recommendation + "}")).missing.count("hidden"), 1U);
}

TEST(ModelFile, MakesTheGradientsOfTheModelThatHasAName) {
    auto const read = transformer_of(transformer_text(read_text(llama), {}));
    ASSERT_TRUE(read);
    TrainedModel const named = model_named("llama3-8b");
    EXPECT_EQ(read->elements(), named.elements());
    EXPECT_EQ(read->tensors.size(), named.tensors.size());
    EXPECT_EQ(named.elements(), 8'030'261'248U) << "as published";
    for (char const* wrong :
         {"transformer:", "transformer:layers=2", "transformer:layers=2:hidden=x", "transformer:a=1"}) {
        EXPECT_THROW((void)transformer_of(wrong), UsageError) << wrong;
    }
    EXPECT_FALSE(transformer_of("gpt-125m"));
}

// transformers, modeling_gpt_bigcode.py: one key and one value of 64 for all 12 heads, c_attn has 768 + 2 * 64 outputs.
TEST(ModelFile, CountsKeysAndValuesThatHeadsShareInBothKindsOfModels) {
    auto const gpt = [](std::string const& more) {
        return read_text(R"({"n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50304)" + more + "}");
    };
    std::uint64_t const fewer = 2 * 769 * (768 - 64);
    EXPECT_EQ(gradients_of(gpt(R"(, "multi_query": true)"), {}), gradients_of(gpt(""), {}) - 12 * fewer);
    EXPECT_EQ(transformer_of("transformer:layers=1:hidden=768:key-values=64")->elements(),
              transformer_of("transformer:layers=1:hidden=768")->elements() - fewer);
    EXPECT_EQ(gradients_of(gpt(R"(, "head_dim": 128)"), {}), gradients_of(gpt(""), {}) + 12 * (4 * 768 + 3) * 768);
}

struct CountedModel {
    char const* config;
    std::uint64_t parameters;
};

// Instances of the classes of transformers 5.24 count as many: GPT-2, OPT 125M, GPTBigCode, StarCoder2 3B; Qwen2 7B and
// 0.5B, Phi-3 mini (its vocabulary is no multiple of 128), Gemma 7B (its heads are wider than hidden), GLM-4 9B.
TEST(ModelFile, CountsTheParametersThatTransformersHas) {
    for (auto const& [config, parameters] : {
             CountedModel{R"("model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
                "vocab_size": 50257)",
                          124'439'808},
             CountedModel{R"("model_type": "opt", "hidden_size": 768, "num_hidden_layers": 12, "ffn_dim": 3072,
                "num_attention_heads": 12, "max_position_embeddings": 2048, "vocab_size": 50272,
                "activation_function": "relu")",
                          125'239'296},
             CountedModel{
                 R"("model_type": "gpt_bigcode", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
                "vocab_size": 50257, "multi_query": true)",
                 111'446'784},
             CountedModel{R"("model_type": "starcoder2", "hidden_size": 3072, "num_hidden_layers": 30,
                "num_attention_heads": 24, "num_key_value_heads": 2, "intermediate_size": 12288, "vocab_size": 49152,
                "hidden_act": "gelu_pytorch_tanh", "norm_epsilon": 1e-05, "tie_word_embeddings": true)",
                          3'030'371'328},
             CountedModel{R"("model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
                "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064,
                "rms_norm_eps": 1e-06)",
                          7'615'616'512},
             CountedModel{R"("model_type": "qwen2", "hidden_size": 896, "num_hidden_layers": 24,
                "num_attention_heads": 14, "num_key_value_heads": 2, "intermediate_size": 4864, "vocab_size": 151936,
                "rms_norm_eps": 1e-06, "tie_word_embeddings": true)",
                          494'032'768},
             CountedModel{R"("model_type": "phi3", "hidden_size": 3072, "num_hidden_layers": 32,
                "num_attention_heads": 32, "intermediate_size": 8192, "vocab_size": 32064, "rms_norm_eps": 1e-05)",
                          3'821'079'552},
             CountedModel{R"("model_type": "gemma", "hidden_size": 3072, "num_hidden_layers": 28,
                "num_attention_heads": 16, "head_dim": 256, "intermediate_size": 24576, "vocab_size": 256000,
                "rms_norm_eps": 1e-06)",
                          8'537'680'896},
             CountedModel{R"("model_type": "glm", "hidden_size": 4096, "num_hidden_layers": 40,
                "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 13696,
                "vocab_size": 151552, "rms_norm_eps": 1.5625e-07, "attention_bias": true)",
                          9'399'951'360},
         }) {
        EXPECT_EQ(gradients_of(read_text(fmt::format("{{{}}}", config)), {}), parameters) << config;
    }
}

// Megatron-LM fuses query, key and value, and their biases, and pads the vocabulary.
TEST(ModelFile, GivesMegatronTheSameModelInOtherTensors) {
    std::string const text = "transformer:layers=2:hidden=64:mlp=96:queries=128:key-values=32:bias=1:vocabulary=1000";
    TrainedModel const whole = *transformer_of(text);
    TrainedModel const fused = *transformer_of(text, Modules::megatron);
    EXPECT_EQ(fused.elements(), whole.elements() + 2 * 64 * (1024 - 1000));
    EXPECT_EQ(whole.tensors.size(), 3U + 2 * (9 + 3));
    EXPECT_EQ(fused.tensors.size(), 3U + 2 * 7);
    EXPECT_EQ(fused.tensors.at(4).elements, 128U + 2 * 32) << "of query, key and value";
    EXPECT_EQ(transformer_of(text + ":positions=10")->elements(), whole.elements() + 640);
    EXPECT_THROW((void)transformer_of(text + ":tp=3"), UsageError);
}

TEST(ModelFile, RefusesMoreGradientsThanAreCounted) {
    // 12 * 2^48 * 2^16 elements are 0 modulo 2^64; the others are just above and below 2^48.
    for (char const* large : {"transformer:layers=65536:hidden=16777216", "transformer:layers=2:hidden=16777216",
                              "transformer:layers=1:hidden=4843300"}) {
        EXPECT_NE(usage_error_of([&] { (void)transformer_of(large); }).find("the most is 2^48"), std::string::npos)
            << large;
    }
    EXPECT_LT(transformer_of("transformer:layers=1:hidden=4700000")->elements(), max_elements);
}

// What the ranks hold together is the model, and norms (and biases of row-parallel layers) once per rank of tp.
TEST(ModelFile, DividesTheGradientsAsTheRanksDivideTheModel) {
    ModelShape const model = read_text(llama);
    auto const of_rank = [&](char const* parallel) {
        return gradients_of(model, parse_parallelism(parallel, "--parallel"));
    };
    std::uint64_t const norms = (2 * 32 + 1) * 4096;
    EXPECT_EQ(8 * of_rank("tp=8"), of_rank("") + 7 * norms + (129024 - 128256) * 2 * 4096) << "and padded words";
    std::uint64_t const head = std::uint64_t{128256} * 4096;
    EXPECT_EQ(4 * (of_rank("pp=4") - head - 4096), of_rank("") - 2 * head - 4096) << "the last of four stages";
    ModelShape const gpt = read_text(R"({"n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50304})");
    EXPECT_EQ(gradients_of(gpt, {}), 162'322'944U) << "gpt-125m";
    EXPECT_EQ(2 * gradients_of(gpt, parse_parallelism("tp=2", "--parallel")),
              162'322'944U + 12 * 6 * 768 + 2 * 768 + (50432 - 50304) * 2 * 768)
        << "vocabulary padded to 256";
    ModelShape const odd = read_text(R"({"n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257})");
    for (char const* parallel : {"tp=2", "pp=3"}) {
        EXPECT_EQ(gradients_of(odd, parse_parallelism(parallel, "--parallel")),
                  gradients_of(gpt, parse_parallelism(parallel, "--parallel")))
            << "padded alike: " << parallel;
    }
    EXPECT_EQ(gradients_of(odd, {}), 162'322'944U - 2 * 768 * (50304 - 50257)) << "not padded";
    EXPECT_THROW((void)of_rank("pp=5"), UsageError);
    EXPECT_THROW((void)of_rank("tp=16"), UsageError) << "8 key-value heads";
    EXPECT_EQ(derived("dp_gradients", model, "pp=4").missing.count("dp"), 1U) << "how many ranks have a stage?";
    EXPECT_EQ(of("dp_gradients", model, "tp=2,pp=4,dp=2"),
              (Parameters{
                  {"model", "transformer:layers=32:hidden=4096:mlp=14336:key-values=1024:vocabulary=128256:tp=2:pp=4"},
                  {"stride", "2"},
                  {"dp", "2"},
                  {"element", "bf16"}}));
}

// Co-Designing Model Architectures with Hardware (arXiv 2401.14489): hidden 4096 on tp 8 is clean, 4097 is not.
TEST(ModelLint, FindsWhatTheRanksDoNotDivideAndNothingElse) {
    Parallelism const tp8 = parse_parallelism("tp=8", "--parallel");
    EXPECT_TRUE(lint(read_text(R"({"hidden_size": 4096})"), tp8).empty());
    auto const odd = lint(read_text(R"({"hidden_size": 4097})"), tp8);
    EXPECT_TRUE(has(odd, ShapeFault::does_not_fit, "hidden 4097 does not divide by tp 8"));
    EXPECT_TRUE(has(odd, ShapeFault::slow, "no multiple of 128"));
    auto const all = lint(read_text(mixture), parse_parallelism("tp=3,pp=4,ep=160", "--parallel"));
    EXPECT_TRUE(has(all, ShapeFault::does_not_fit, "layers 61"));
    EXPECT_TRUE(has(all, ShapeFault::does_not_fit, "experts 256"));
    EXPECT_TRUE(has(all, ShapeFault::does_not_fit, "heads 128"));
    auto const shared = lint(read_text(llama), parse_parallelism("tp=16", "--parallel"));
    EXPECT_TRUE(has(shared, ShapeFault::slow, "key-value heads 8 on tp 16"));
    EXPECT_TRUE(
        has(lint(read_text(R"({"hidden_size": 80, "num_attention_heads": 2})"), {}), ShapeFault::slow, "40 values"));
    ModelShape const tables = read_text(R"({"num_embeddings_per_feature": [9, 9], "embedding_dim": 24})");
    EXPECT_TRUE(has(lint(tables, {}), ShapeFault::slow, "2 of 2 embedding tables"));
}

// Megatron-LM, vocab_utils.py.
TEST(ModelLint, PadsTheVocabularyAsMegatronDoes) {
    EXPECT_EQ(padded_vocabulary(50257, 1), 50304U);
    EXPECT_EQ(padded_vocabulary(50257, 8), 51200U);
    EXPECT_EQ(padded_vocabulary(51200, 8), 51200U);
    ModelShape const gpt2 = read_text(R"({"n_embd": 768, "vocab_size": 50257})");
    EXPECT_TRUE(has(lint(gpt2, {}), ShapeFault::padded, "50304"));
}

}  // namespace
}  // namespace dlmb
