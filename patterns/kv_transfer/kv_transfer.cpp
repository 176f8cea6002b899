// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/kv_transfer/kv_transfer.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/arrivals.hpp"
#include "common/formats/plan/builder.hpp"
#include "patterns/counts.hpp"
#include "patterns/kv_transfer/iteration.hpp"
#include "patterns/kv_transfer/params.hpp"
#include "patterns/model_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace dlmb::kv_transfer {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

/// Sums over the first ranks of prefill instances, which tell of their requests; and messages of all ranks that send.
enum RequestTotal : std::size_t { requests, tokens, moved_tokens, messages, totals };

class KvTransfer final : public Pattern {
public:
    explicit KvTransfer(Params params)
        : params_(std::move(params)), chunks_(chunks_of(params_)), most_units_(params_.split.most_units()) {}

    [[nodiscard]] RankSetup setup_of(Rank source, Draw draw) const override {
        std::vector<std::uint64_t> sums(totals);
        InstancePlace const place = params_.instances.place_of(source);
        if (!params_.one_rank && place.prefills) {
            bool const tells = place.stage == 0 && place.tp == 0;
            std::uint64_t const sends =
                peers_of(params_.split, true, place.tp).size() * chunks_of_stage(params_, place.stage).size();
            for (std::uint64_t request = 0; request < params_.requests; ++request) {
                Prompt const prompt = prompt_of(draw, place_of(place.instance, request));
                std::uint64_t const length = prompt.tokens;
                Moved const moved = params_.moved_of(prompt);
                sums[requests] += tells ? 1 : 0;
                sums[tokens] += tells ? length : 0;
                sums[moved_tokens] += tells ? moved.tokens : 0;
                bool const is_one = params_.placement == BlockPlacement::contiguous && moved.tokens > 0;
                sums[messages] += sends * (is_one ? 1 : moved.blocks);
            }
        }
        return {{}, std::move(sums)};
    }

    [[nodiscard]] Plan build(Rank me, Draw draw, RankSetup const& /*own*/,
                             std::span<SetupCounts const> /*received_counts*/) const override {
        if (params_.one_rank) {
            return PlanBuilder(me).finish();
        }
        std::vector<TransferRequest> requests;
        InstancePlace const place = params_.instances.place_of(me);
        std::uint64_t const together = params_.instances.per_decoding;
        std::uint64_t const first = (place.prefills ? place.instance / together : place.instance) * together;
        for (std::uint64_t number = 0; number < params_.requests; ++number) {
            for (std::uint64_t instance = first; instance < first + together; ++instance) {
                RequestPlace const request = place_of(instance, number);
                requests.push_back(
                    {instance, static_cast<int>(number), params_.moved_of(prompt_of(draw, request)),
                     params_.arrivals.at_times() ? params_.arrivals.gap(params_.lengths, draw, request) : 0});
            }
        }
        return build_iteration(params_, most_units_, chunks_, me, std::move(requests));
    }

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        require_statistics("kv_transfer", summed, totals);
        auto const per_request = [&](RequestTotal total) {
            return static_cast<double>(summed[total]) /
                   static_cast<double>(std::max<std::uint64_t>(summed[requests], 1));
        };
        return {{"request_tokens", per_request(tokens)},
                {"request_cache_bytes", per_request(tokens) * static_cast<double>(params_.bytes_per_token())},
                {"request_moved_bytes", per_request(moved_tokens) * static_cast<double>(params_.bytes_per_token())},
                {window_messages, static_cast<double>(summed[messages])}};
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        std::vector<OperationUse> uses{{OperationKind::send}, {OperationKind::recv}};
        if (params_.op_type == OpType::write) {
            uses = {{OperationKind::put}, {OperationKind::wait_signal}};
        } else if (params_.op_type == OpType::read) {
            uses = {{OperationKind::offer}, {OperationKind::get}};
        }
        if (params_.arrivals.kind() == Arrivals::Kind::alone) {
            uses.push_back({OperationKind::barrier});
        }
        return uses;
    }
    [[nodiscard]] bool draws_differ() const override {
        return params_.lengths.are_drawn() || params_.arrivals.at_times();
    }
    [[nodiscard]] std::uint32_t most_draws() const override {
        std::uint64_t const recorded = params_.lengths.recorded();
        // One length of all requests is one record; arrivals may still differ.
        return recorded <= 1 ? Pattern::most_draws()
                             : static_cast<std::uint32_t>(std::clamp<std::uint64_t>(recorded / params_.all_requests(),
                                                                                    1, Pattern::most_draws()));
    }
    [[nodiscard]] Parameters resolved() const override {
        return {{"prefill-tp", fmt::format("{}", params_.instances.prefill_tp)},
                {"decode-tp", fmt::format("{}", params_.instances.decode_tp)}};
    }
    [[nodiscard]] std::vector<std::string> remarks() const override {
        if (params_.one_rank) {
            return {"one rank both prefills and decodes: nothing is sent; a transfer needs two ranks"};
        }
        std::vector<std::string> remarks;
        for (auto const& [option, division] :
             {std::pair("--prefill-tp", params_.split.prefill), std::pair("--decode-tp", params_.split.decode)}) {
            std::uint64_t const fewest = division.units / division.ranks;
            if (fewest == 0) {
                remarks.push_back(fmt::format("{} {}: more ranks than the {} that a layer's cache is divided into, so "
                                              "that several ranks have the same",
                                              option, division.ranks, division.units));
            } else if (division.units % division.ranks != 0) {
                remarks.push_back(fmt::format("{} {}: {} or {} of the {} parts of a layer's cache are on a rank",
                                              option, division.ranks, fewest, fewest + 1, division.units));
            }
        }
        return remarks;
    }

private:
    [[nodiscard]] RequestPlace place_of(std::uint64_t instance, std::uint64_t number) const {
        return {instance, number, params_.instances.prefilling(), params_.requests};
    }
    [[nodiscard]] Prompt prompt_of(Draw draw, RequestPlace const& request) const {
        return params_.lengths.prompt(draw, request.in_draw(), request.of_draw());
    }

    Params params_;
    std::vector<LayerChunk> chunks_;
    std::uint64_t most_units_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<KvTransfer>(read_params(parameters, world));
}

constexpr std::string_view phases[] = {arrival_phase, "compute", "first_layer", "layers", "request"};
constexpr std::string_view compute_parameters[] = {"compute-ns"};

ModelDerived of_model(ModelShape const& model, Parallelism const& parallel) {
    ModelParameters parameters(model, parallel, {"tp", "pp"});
    if (model.kv_lora > 0) {
        parameters.text("attention", "mla")
            .optional("kv-lora", model.kv_lora)
            .needed("rope", model.rope_dim, "the rotary values beside the latent");
    } else {
        parameters.needed("kv-heads", model.kv_heads, "its heads of keys and values")
            .needed("head-dim", model.head_dim, "one dimension of all heads");
    }
    parameters
        .needed("layers", model.layers - model.attention_free - model.shared_keys,
                "its number of layers with keys and values of their own")
        .optional("prefill-tp", parallel.tp)
        .optional("prefill-pp", parallel.pp)
        .optional("decode-tp", parallel.tp)
        .element();
    return parameters.derived();
}

}  // namespace

PatternType const& type() {
    static PatternType const kv_transfer{
        "kv_transfer",     "disaggregated inference: the KV cache from prefill to decode ranks",
        parameter_infos(), phases,
        presets_json,      make,
        of_model,          compute_parameters};
    return kv_transfer;
}

}  // namespace dlmb::kv_transfer
