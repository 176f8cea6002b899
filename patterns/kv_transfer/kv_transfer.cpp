// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Turns requests into steps. All ranks go through layers in the same order, and through requests and peers inside a
// layer, so that plans hold together also where each send waits for its receive. The messages of one layer and request
// are one batch.
#include "patterns/kv_transfer/kv_transfer.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "patterns/kv_transfer/params.hpp"
#include "patterns/model_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace dlmb::kv_transfer {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

using Steps = std::vector<StepId>;

/// Layers of one prefill stage, for one decode stage, that leave together.
struct Chunk {
    std::uint64_t stage = 0;
    std::uint64_t to_stage = 0;
    std::uint64_t place = 0;  // among the chunks of the prefill stage
    Range layers;
};

std::vector<Chunk> chunks_of_stage(Params const& params, std::uint64_t stage) {
    std::vector<Chunk> chunks;
    Range const computed = params.layers_of(stage, params.instances.prefill_pp);
    for (std::uint64_t to_stage = 0; to_stage < params.instances.decode_pp; ++to_stage) {
        Range const needed = params.layers_of(to_stage, params.instances.decode_pp);
        std::uint64_t const end = std::min(computed.end(), needed.end());
        for (std::uint64_t layer = std::max(computed.first, needed.first); layer < end;) {
            std::uint64_t const together = params.granularity == Granularity::layer ? 1 : end - layer;
            chunks.push_back({stage, to_stage, chunks.size(), {layer, together}});
            layer += together;
        }
    }
    return chunks;
}

std::vector<Chunk> chunks_of(Params const& params) {
    std::vector<Chunk> chunks;
    for (std::uint64_t stage = 0; stage < params.instances.prefill_pp; ++stage) {
        std::vector<Chunk> const more = chunks_of_stage(params, stage);
        chunks.insert(chunks.end(), more.begin(), more.end());
    }
    return chunks;
}

/// The messages from one rank to another one for a chunk of a request.
struct Message {
    Bytes bytes = 0;
    MessageWindow window = {};
};

/// `units`: of a layer. Blocks lie apart as in a paged cache, at multiples of 8 bytes.
Message message_of(Params const& params, Chunk const& chunk, Moved const& moved, std::uint64_t units) {
    Bytes const token = units * params.unit_bytes * chunk.layers.count;
    if (params.placement == Placement::contiguous || moved.blocks == 1) {
        return {token * moved.tokens, {}};
    }
    constexpr Bytes word = 8;
    Bytes const bytes = token * params.block_tokens;
    return {bytes, {moved.blocks, (bytes + word - 1) / word * word}};
}

/// The messages between a rank and one tensor-parallel rank of the other side.
struct PeerShare {
    std::uint64_t peer = 0;
    std::uint64_t units = 0;
};

std::vector<PeerShare> peers_of(Split const& split, bool prefills, std::uint64_t tp) {
    std::vector<PeerShare> peers;
    Range const ranks = prefills ? split.receivers(tp) : split.senders(tp);
    for (std::uint64_t peer = ranks.first; peer < ranks.end(); ++peer) {
        Range const units = prefills ? split.share(tp, peer) : split.share(peer, tp);
        if (units.count > 0) {
            peers.push_back({peer, units.count});
        }
    }
    return peers;
}

/// A request, and the prefill instance that sends it.
struct Request {
    std::uint64_t instance = 0;
    int number = 0;  // in that instance
    Moved moved;
};

/// A decode instance and the prefill instances that send to it. `requests`: of all of these, so that all ranks share
/// buffers alike. Labels: first_layer.LAYER.REQUEST, layers.LAYER.REQUEST, request.STAGE.REQUEST, compute.LAYER.
class IterationBuilder {
public:
    IterationBuilder(Params const& params, std::uint64_t most_units, Rank me, std::vector<Request> requests)
        : params_(params), most_units_(most_units), place_(params.instances.place_of(me)),
          peers_(peers_of(params.split, place_.prefills, place_.tp)), requests_(std::move(requests)), builder_(me),
          budget_(params.memory_limit) {
        for (Request const& request : requests_) {
            groups_.push_back(exchanges(request) ? builder_.group(both_instances(request.instance)) : GroupId{});
        }
    }

    Plan build(std::vector<Chunk> const& chunks) && {
        std::vector<std::vector<std::vector<Steps>>> done(  // by stage, request, chunk
            params_.instances.prefill_pp, std::vector<std::vector<Steps>>(requests_.size()));
        int batch = 0;
        for (Chunk const& chunk : chunks) {
            bool const takes_part = place_.stage == (place_.prefills ? chunk.stage : chunk.to_stage);
            if (takes_part && place_.prefills) {
                compute(chunk);
            }
            for (std::size_t request = 0; request < requests_.size(); ++request, ++batch) {
                Moved const& moved = requests_[request].moved;
                builder_.share_buffers(!fits(chunk, moved));
                std::vector<Steps>& before = done[chunk.stage][request];
                bool const moves = takes_part && moved.tokens > 0 && exchanges(requests_[request]);
                before.push_back(moves ? transfer(chunk, request, batch, start_of(chunk, before)) : Steps{});
            }
        }
        return std::move(builder_).finish();
    }

private:
    [[nodiscard]] bool exchanges(Request const& request) const {
        return !place_.prefills || place_.instance == request.instance;
    }

    /// The group of a prefill instance and its decode instance, prefill ranks first.
    [[nodiscard]] Group both_instances(std::uint64_t prefilling) const {
        Instances const& all = params_.instances;
        Group group;
        for (std::uint64_t rank = 0; rank < all.prefill_ranks(); ++rank) {
            group.members.push_back(all.prefill_rank(prefilling, 0, 0) + static_cast<Rank>(rank));
        }
        for (std::uint64_t rank = 0; rank < all.decode_ranks(); ++rank) {
            group.members.push_back(all.decode_rank(prefilling / all.per_decoding, 0, 0) + static_cast<Rank>(rank));
        }
        return group;
    }

    /// All ranks ask with the same bytes: those of the rank that has most.
    [[nodiscard]] bool fits(Chunk const& chunk, Moved const& moved) {
        Message const most = message_of(params_, chunk, moved, most_units_);
        return budget_.take(moved.tokens == 0 ? 0 : most.window.span(most.bytes));
    }

    /// The first chunk of a stage also takes the time of the stages before.
    void compute(Chunk const& chunk) {
        if (params_.compute_ns > 0) {
            Range const& layers = chunk.layers;
            std::uint64_t const computed = chunk.place == 0 ? layers.end() : layers.count;
            computed_ = {builder_.compute(static_cast<Nanoseconds>(computed) * params_.compute_ns,
                                          fmt::format("compute.{}", layers.first), computed_)};
        }
    }

    /// `before`: the steps of the earlier chunks of this stage, for one request.
    [[nodiscard]] Steps start_of(Chunk const& chunk, std::vector<Steps> const& before) const {
        Steps after = computed_;
        std::uint64_t const most = params_.layers_in_flight;
        if (most > 0 && chunk.place >= most) {
            Steps const& earlier = before[chunk.place - most];
            after.insert(after.begin(), earlier.begin(), earlier.end());
        }
        return after;
    }

    Steps transfer(Chunk const& chunk, std::size_t request, int batch, Steps const& after) {
        int const channel = requests_[request].number;
        GroupId const group = groups_[request];
        std::string const label = label_of(chunk, request);
        Steps steps;
        for (auto const& [peer, units] : peers_) {
            Message const message = message_of(params_, chunk, requests_[request].moved, units);
            Instances const& all = params_.instances;
            if (place_.prefills) {
                auto const to = static_cast<Rank>(all.prefill_ranks() + chunk.to_stage * all.decode_tp + peer);
                steps.push_back(builder_.send(group, to, message.bytes, channel, batch, label, after, message.window));
            } else {
                auto const from = static_cast<Rank>(chunk.stage * all.prefill_tp + peer);
                steps.push_back(
                    builder_.recv(group, from, message.bytes, channel, batch, label, after, message.window));
            }
        }
        return steps;
    }

    [[nodiscard]] std::string label_of(Chunk const& chunk, std::size_t request) const {
        if (params_.granularity == Granularity::block) {
            return fmt::format("request.{}.{}", chunk.stage, request);
        }
        return fmt::format("{}.{}.{}", chunk.layers.first == 0 ? "first_layer" : "layers", chunk.layers.first, request);
    }

    Params const& params_;
    std::uint64_t most_units_;
    Place place_;
    std::vector<PeerShare> peers_;
    std::vector<Request> requests_;
    PlanBuilder builder_;
    std::vector<GroupId> groups_;  // by request
    BufferBudget budget_;
    Steps computed_;  // the computation of the chunk
};

/// Sums over the first ranks of prefill instances, which tell of their requests; and messages of all ranks that send.
enum Total : std::size_t { requests, tokens, moved_tokens, messages, totals };

class KvTransfer final : public Pattern {
public:
    explicit KvTransfer(Params params)
        : params_(std::move(params)), chunks_(chunks_of(params_)), most_units_(params_.split.most_units()) {}

    [[nodiscard]] RankSetup setup_of(Rank source, Draw draw) const override {
        std::vector<std::uint64_t> sums(totals);
        Place const place = params_.instances.place_of(source);
        if (!params_.one_rank && place.prefills) {
            bool const tells = place.stage == 0 && place.tp == 0;
            std::uint64_t const sends =
                peers_of(params_.split, true, place.tp).size() * chunks_of_stage(params_, place.stage).size();
            for (std::uint64_t request = 0; request < params_.requests; ++request) {
                Prompt const prompt = prompt_of(place.instance, draw, request);
                std::uint64_t const length = prompt.tokens;
                Moved const moved = params_.moved_of(prompt);
                sums[requests] += tells ? 1 : 0;
                sums[tokens] += tells ? length : 0;
                sums[moved_tokens] += tells ? moved.tokens : 0;
                bool const is_one = params_.placement == Placement::contiguous && moved.tokens > 0;
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
        std::vector<Request> requests;
        Place const place = params_.instances.place_of(me);
        std::uint64_t const together = params_.instances.per_decoding;
        std::uint64_t const first = (place.prefills ? place.instance / together : place.instance) * together;
        for (std::uint64_t instance = first; instance < first + together; ++instance) {
            for (std::uint64_t number = 0; number < params_.requests; ++number) {
                Moved const moved = params_.moved_of(prompt_of(instance, draw, number));
                requests.push_back({instance, static_cast<int>(number), moved});
            }
        }
        return IterationBuilder(params_, most_units_, me, std::move(requests)).build(chunks_);
    }

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        if (summed.size() != totals) {
            throw Error(fmt::format("kv_transfer: {} counts in the statistics, expected {}", summed.size(),
                                    std::size_t{totals}));
        }
        auto const per_request = [&](Total total) {
            return static_cast<double>(summed[total]) /
                   static_cast<double>(std::max<std::uint64_t>(summed[requests], 1));
        };
        return {{"request_tokens", per_request(tokens)},
                {"request_cache_bytes", per_request(tokens) * static_cast<double>(params_.bytes_per_token())},
                {"request_moved_bytes", per_request(moved_tokens) * static_cast<double>(params_.bytes_per_token())},
                {window_messages, static_cast<double>(summed[messages])}};
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        return {{OperationKind::send}, {OperationKind::recv}};
    }
    [[nodiscard]] bool draws_differ() const override { return params_.lengths.are_drawn(); }
    [[nodiscard]] std::uint32_t most_draws() const override {
        std::uint64_t const recorded = params_.lengths.recorded();
        return recorded == 0 ? Pattern::most_draws()
                             : static_cast<std::uint32_t>(
                                   std::clamp<std::uint64_t>(recorded / requests_of_draw(), 1, Pattern::most_draws()));
    }
    [[nodiscard]] Parameters resolved() const override {
        return {{"prefill-tp", fmt::format("{}", params_.instances.prefill_tp)},
                {"decode-tp", fmt::format("{}", params_.instances.decode_tp)}};
    }
    [[nodiscard]] std::vector<std::string> remarks() const override;

private:
    [[nodiscard]] std::uint64_t requests_of_draw() const { return params_.requests * params_.instances.prefilling(); }

    [[nodiscard]] Prompt prompt_of(std::uint64_t instance, Draw draw, std::uint64_t request) const {
        return params_.lengths.prompt(draw, instance * params_.requests + request, requests_of_draw());
    }

    Params params_;
    std::vector<Chunk> chunks_;
    std::uint64_t most_units_;
};

std::vector<std::string> KvTransfer::remarks() const {
    if (params_.one_rank) {
        return {"one rank both prefills and decodes: nothing is sent; a transfer needs two ranks"};
    }
    std::vector<std::string> remarks;
    for (auto const& [option, division] :
         {std::pair("--prefill-tp", params_.split.prefill), std::pair("--decode-tp", params_.split.decode)}) {
        std::uint64_t const fewest = division.units / division.ranks;
        if (fewest == 0) {
            remarks.push_back(fmt::format("{} {}: more ranks than the {} that a layer's cache is divided into, so that "
                                          "several ranks have the same",
                                          option, division.ranks, division.units));
        } else if (division.units % division.ranks != 0) {
            remarks.push_back(fmt::format("{} {}: {} or {} of the {} parts of a layer's cache are on a rank", option,
                                          division.ranks, fewest, fewest + 1, division.units));
        }
    }
    return remarks;
}

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<KvTransfer>(read_params(parameters, world));
}

constexpr std::string_view phases[] = {"compute", "first_layer", "layers", "request"};
constexpr std::string_view compute_parameters[] = {"compute-ns"};

/// A model file does not tell the sizes of a latent.
ModelDerived of_model(ModelShape const& model, Parallelism const& parallel) {
    for (std::string_view const latent : {"deepseek_v", "kimi_k"}) {
        if (std::string_view(model.name).starts_with(latent)) {
            throw UsageError(fmt::format("{}: {} has a latent cache (MLA), whose sizes are not read from a model; use "
                                         "--attention mla with --layers, --kv-lora and --rope",
                                         model.source, model.name));
        }
    }
    ModelParameters parameters(model, parallel, {"tp", "pp"});
    parameters.needed("layers", model.layers, "its number of layers")
        .needed("kv-heads", model.kv_heads, "its heads of keys and values")
        .needed("head-dim", model.head_dim, "the dimension of a head")
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
