// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/reshard/reshard.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "patterns/counts.hpp"
#include "patterns/model_parameters.hpp"
#include "patterns/readers.hpp"
#include "patterns/reshard/routes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace dlmb::reshard {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

constexpr std::uint64_t max_width = std::uint64_t{1} << 24;
constexpr std::uint64_t max_layers = 65536;
constexpr std::uint64_t max_elements = std::uint64_t{1} << 46;  // times 2^17 ranks is below 2^64
constexpr std::uint64_t max_buckets = std::uint64_t{1} << 20;
constexpr int max_in_flight = 8;
constexpr std::array weight_elements{Element::bf16, Element::fp16, Element::fp32, Element::fp8};

constexpr ParameterInfo infos[] = {
    {"wire",
     "p2p (from one holder), striped (a stripe from every holder), bucketed (p2p in messages of --bucket), broadcast "
     "(buckets, each by its owner)",
     "p2p"},
    {"bucket", "broadcast, bucketed: bytes of a bucket", "256M"},
    {"in-flight", "broadcast, bucketed: buckets under way at once, 1 to 8; 2: double buffered", "2"},
    {"senders", "ranks that hold the weights, the others receive them; 0: all ranks do both", "0"},
    {"tp", "tensor parallelism where weights are held; 0: what --pp and --ep leave", "0"},
    {"pp", "pipeline stages there", "1"},
    {"ep", "ranks there that share the experts", "1"},
    {"to-tp", "tensor parallelism where they are needed; 0: what --to-pp and --to-ep leave", "1"},
    {"to-pp", "pipeline stages there", "1"},
    {"to-ep", "ranks there that share the experts", "1"},
    {"hidden", "hidden size", "512"},
    {"layers", "layers", "4"},
    {"heads", "attention heads", "8"},
    {"kv-heads", "heads of keys and values; 0: as many as --heads", "0"},
    {"head-dim", "values of one head; latent attention: of its values", "64"},
    {"qk-norm", "on: queries and keys have norms", "off"},
    {"kv-lora", "latent attention: rank of keys and values; 0: heads of keys and values as they are", "0"},
    {"q-lora", "latent attention: rank of queries; 0: full", "0"},
    {"rope-dim", "latent attention: rotated values of a head", "0"},
    {"mlp", "width of the MLP (of gate and up) in a dense layer", "2048"},
    {"gated", "off: MLPs of two matrices, without a gate (GPT)", "on"},
    {"experts", "routed experts of a layer; 0: all layers are dense", "0"},
    {"expert-mlp", "width of gate and up in an expert", "0"},
    {"shared-experts", "experts of a layer that all tokens use", "0"},
    {"dense-layers", "first layers without experts", "0"},
    {"vocabulary", "rows of the embedding, and of the head", "8192"},
    {"tied", "on: the head is the embedding", "off"},
    {"element", "type of the weights: bf16, fp16, fp32, fp8", "bf16"},
    memory_limit_parameter,
};

enum class WeightWire { p2p, striped, bucketed, broadcast };

struct Params {
    ModelSizes model;
    ParallelLayout from;
    ParallelLayout to;
    WeightWire wire = WeightWire::p2p;
    Bytes bucket = 0;
    std::size_t in_flight = 2;
    Element element = Element::bf16;
    Bytes memory_limit = 0;
    int ranks = 1;  // of the world
};

ModelSizes read_model_sizes(Parameters const& parameters) {
    auto const size = [&](std::string_view name) { return read_unsigned(parameters, name, 0, max_width); };
    ModelSizes model;
    model.hidden = size("hidden");
    model.layers = read_unsigned(parameters, "layers", 0, max_layers);
    model.heads = read_unsigned(parameters, "heads", 1, max_width);
    std::uint64_t const kv_heads = read_unsigned(parameters, "kv-heads", 0, model.heads);
    model.kv_heads = kv_heads == 0 ? model.heads : kv_heads;
    model.head_dim = size("head-dim");
    model.qk_norm = read_switch(parameters, "qk-norm");
    model.kv_lora = size("kv-lora");
    model.q_lora = size("q-lora");
    model.rope_dim = size("rope-dim");
    model.mlp = size("mlp");
    model.gated = read_switch(parameters, "gated");
    model.experts = size("experts");
    model.expert_mlp = size("expert-mlp");
    model.shared_experts = size("shared-experts");
    model.dense_layers = read_unsigned(parameters, "dense-layers", 0, model.layers);
    model.vocabulary = size("vocabulary");
    model.tied = read_switch(parameters, "tied");
    return model;
}

/// `side`: "" or "to-", before the names of the options. Fills in what 0 leaves open.
ParallelLayout read_layout(Parameters const& parameters, std::string_view side, Rank first, int ranks) {
    auto const read = [&](std::string_view name, int least) {
        return read_int(parameters, fmt::format("{}{}", side, name), least, std::numeric_limits<int>::max());
    };
    ParallelLayout layout{read("tp", 0), read("ep", 1), 1, read("pp", 1), first};
    std::string const all = fmt::format("--{0}tp {1} --{0}pp {2} --{0}ep {3}", side, layout.tp, layout.pp, layout.ep);
    std::int64_t left = ranks;
    for (std::int64_t const each : {layout.pp, layout.ep, std::max(layout.tp, 1)}) {
        if (left % each != 0) {
            throw UsageError(fmt::format("{}: together do not divide the {} ranks that {}", all, ranks,
                                         side.empty() ? "hold the weights" : "receive them"));
        }
        left /= each;
    }
    (layout.tp == 0 ? layout.tp : layout.dp) = static_cast<int>(left);
    return layout;
}

/// Throws UsageError for more elements than can be counted, and for too many buckets.
void check_amount(Params const& params) {
    double elements = 0;
    for (WeightGroup const& group : weights_of(params.model)) {
        elements += group.elements();
    }
    if (elements > static_cast<double>(max_elements)) {
        throw UsageError(fmt::format("the model has {:.3g} weights; the most is 2^46", elements));
    }
    double const buckets = elements * static_cast<double>(size_of(params.element)) / static_cast<double>(params.bucket);
    bool const has_buckets = params.wire == WeightWire::bucketed || params.wire == WeightWire::broadcast;
    if (has_buckets && buckets > static_cast<double>(max_buckets)) {
        throw UsageError(fmt::format("--bucket {}: cuts the weights into {:.0f} buckets; the most is {}", params.bucket,
                                     buckets, max_buckets));
    }
}

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    params.model = read_model_sizes(parameters);
    params.wire = read_enum<WeightWire>(parameters, "wire", {"p2p", "striped", "bucketed", "broadcast"});
    params.element = read_element(parameters, "element", weight_elements);
    params.bucket = read_bytes(parameters, "bucket", size_of(params.element), std::numeric_limits<Bytes>::max());
    params.in_flight = static_cast<std::size_t>(read_int(parameters, "in-flight", 1, max_in_flight));
    params.memory_limit = read_memory_limit(parameters);
    params.ranks = world.ranks;
    int const senders = read_int(parameters, "senders", 0, std::numeric_limits<int>::max());
    if (senders >= world.ranks) {
        throw UsageError(fmt::format("--senders {}: leaves none of {} ranks to receive", senders, world.ranks));
    }
    params.from = read_layout(parameters, "", 0, senders == 0 ? world.ranks : senders);
    params.to = read_layout(parameters, "to-", senders, world.ranks - senders);
    check_amount(params);
    params.bucket -= params.bucket % size_of(params.element);  // whole elements
    return params;
}

Group whole_world(int ranks) {
    return consecutive_group({.ranks = ranks}, 0, ranks);
}

/// One exchange of all ranks. It has buffers of its own whatever their size: no other step could share them.
Plan exchanged(Params const& params, Rank me, PeerBytes const& peers) {
    PlanBuilder builder(me);
    (void)builder.exchange(builder.group(whole_world(params.ranks)), peers.sent, peers.received, "weights");
    return std::move(builder).finish();
}

/// How many batches fit into --memory-limit on every rank, so that both ends of a message know whether it has a buffer
/// of its own.
std::uint64_t batches_that_fit(Params const& params, Routes const& routes) {
    std::uint64_t most = 2 * max_buckets;  // all: rounding made buckets smaller, but not by half
    for (Rank rank = 0; rank < params.ranks; ++rank) {
        PeerBytes const peers = routes.peers_of(rank, PieceSenders::one);
        auto const fits = [&](std::uint64_t batches) {
            BufferBudget budget(params.memory_limit);
            auto const takes = [&](Bytes bytes) {
                return budget.take(bytes / params.bucket < batches ? bytes : batches * params.bucket);
            };
            return std::all_of(peers.sent.begin(), peers.sent.end(), takes) &&
                   std::all_of(peers.received.begin(), peers.received.end(), takes);
        };
        if (!fits(most)) {
            std::uint64_t least = 0;
            while (most - least > 1) {
                std::uint64_t const middle = (least + most) / 2;
                (fits(middle) ? least : most) = middle;
            }
            most = least;
        }
    }
    return most;
}

/// The bytes between two ranks travel in messages of up to a bucket. The k-th messages with all peers are one batch,
/// which waits for the batch `in_flight` before it. The first `own` ones have buffers of their own.
Plan bucketed(Params const& params, Rank me, PeerBytes peers, std::uint64_t own) {
    PlanBuilder builder(me);
    GroupId const group = builder.group(whole_world(params.ranks));
    std::vector<std::vector<StepId>> batches;
    while (batches.empty() || !batches.back().empty()) {
        auto const batch = static_cast<int>(batches.size());
        std::vector<StepId> const after =
            batches.size() < params.in_flight ? std::vector<StepId>{} : batches[batches.size() - params.in_flight];
        builder.share_buffers(batches.size() >= own);
        std::vector<StepId>& steps = batches.emplace_back();
        auto const take = [&](Bytes& left) {
            Bytes const bytes = std::min(left, params.bucket);
            left -= bytes;
            return bytes;
        };
        for (std::size_t peer = 0; peer < peers.sent.size(); ++peer) {
            auto const rank = static_cast<Rank>(peer);
            if (Bytes const bytes = take(peers.sent[peer]); bytes > 0) {
                steps.push_back(builder.send(group, rank, bytes, 0, batch, "weights", after));
            }
            if (Bytes const bytes = take(peers.received[peer]); bytes > 0) {
                steps.push_back(builder.recv(group, rank, bytes, 0, batch, "weights", after));
            }
        }
    }
    return std::move(builder).finish();
}

/// Every bucket waits for the one `in_flight` before it among those that this rank takes part in. All ranks count all
/// buckets against the memory limit, so that they agree on which ones have buffers of their own.
Plan broadcast(Params const& params, Rank me, Broadcasts const& all) {
    PlanBuilder builder(me);
    BufferBudget budget(params.memory_limit);
    std::vector<std::optional<GroupId>> groups;
    for (std::vector<Rank> const& members : all.sets) {
        bool const takes_part = std::binary_search(members.begin(), members.end(), me);
        groups.push_back(takes_part ? std::optional(builder.group({members})) : std::nullopt);
    }
    std::vector<StepId> steps;
    for (BroadcastBucket const& bucket : all.buckets) {
        builder.share_buffers(!budget.take(bucket.bytes));
        if (!groups[bucket.members]) {
            continue;
        }
        std::vector<Rank> const& members = all.sets[bucket.members];
        auto const root = std::lower_bound(members.begin(), members.end(), bucket.owner) - members.begin();
        std::vector<StepId> after;
        if (steps.size() >= params.in_flight) {
            after.push_back(steps[steps.size() - params.in_flight]);
        }
        steps.push_back(builder.broadcast(*groups[bucket.members], static_cast<Rank>(root), bucket.bytes,
                                          params.element, "weights", std::move(after)));
    }
    return std::move(builder).finish();
}

class Reshard final : public Pattern {
public:
    explicit Reshard(Params const& params)
        : params_(params), routes_(weights_of(params.model), params.model.layers, params.from, params.to,
                                   size_of(params.element), params.ranks) {
        if (params.wire == WeightWire::broadcast) {
            broadcasts_ = routes_.broadcasts(params.bucket);
        }
        if (params.wire == WeightWire::bucketed) {
            own_batches_ = batches_that_fit(params, routes_);
        }
    }

    /// Bytes that each rank receives, lacks and sends; a broadcast is sent once.
    [[nodiscard]] RankSetup setup_of(Rank source, Draw /*draw*/) const override {
        std::size_t const ranks = count();
        auto const rank = static_cast<std::size_t>(source);
        RankSetup setup;
        setup.statistics.resize(3 * ranks);
        setup.statistics[ranks + rank] = routes_.lacking(source);
        if (params_.wire != WeightWire::broadcast) {
            PeerBytes const peers = peers_of(source);
            setup.statistics[rank] = sum_of(peers.received);
            setup.statistics[2 * ranks + rank] = sum_of(peers.sent);
            return setup;
        }
        for (BroadcastBucket const& bucket : broadcasts_.buckets) {
            std::vector<Rank> const& members = broadcasts_.sets[bucket.members];
            if (bucket.owner == source) {
                setup.statistics[2 * ranks + rank] += bucket.bytes;
            } else if (std::binary_search(members.begin(), members.end(), source)) {
                setup.statistics[rank] += bucket.bytes;
            }
        }
        return setup;
    }

    [[nodiscard]] Plan build(Rank me, Draw /*draw*/, RankSetup const& /*own*/,
                             std::span<SetupCounts const> /*received_counts*/) const override {
        return params_.wire == WeightWire::broadcast  ? broadcast(params_, me, broadcasts_)
               : params_.wire == WeightWire::bucketed ? bucketed(params_, me, peers_of(me), own_batches_)
                                                      : exchanged(params_, me, peers_of(me));
    }

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        require_statistics("reshard", summed, 3 * count());
        auto const of = [&](std::size_t kind) { return summed.subspan(kind * count(), count()); };
        auto const most = [&](std::size_t kind) { return static_cast<double>(largest_of(of(kind))); };
        auto const moved = static_cast<double>(sum_of(of(0)));
        auto const bound = static_cast<double>(sum_of(of(1)));
        return {{"moved_bytes", moved},
                {"bound_bytes", bound},
                {"moved_of_bound", bound > 0 ? moved / bound : 1},
                {"received_bytes_max", most(0)},
                {"bound_bytes_max", most(1)},
                {"sent_bytes_max", most(2)}};
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        using Uses = std::vector<OperationUse>;
        return params_.wire == WeightWire::broadcast  ? Uses{{OperationKind::broadcast, true}}
               : params_.wire == WeightWire::bucketed ? Uses{{OperationKind::send}, {OperationKind::recv}}
                                                      : Uses{{OperationKind::exchange}};
    }

    [[nodiscard]] Parameters resolved() const override {
        return {{"kv-heads", fmt::format("{}", params_.model.kv_heads)},
                {"tp", fmt::format("{}", params_.from.tp)},
                {"to-tp", fmt::format("{}", params_.to.tp)}};
    }

private:
    [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(params_.ranks); }
    [[nodiscard]] PeerBytes peers_of(Rank rank) const {
        return routes_.peers_of(rank, params_.wire == WeightWire::striped ? PieceSenders::all : PieceSenders::one);
    }

    Params params_;
    Routes routes_;
    Broadcasts broadcasts_;          // of --wire broadcast
    std::uint64_t own_batches_ = 0;  // of --wire bucketed
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<Reshard>(read_params(parameters, world));
}

constexpr std::string_view phases[] = {"weights"};

/// `parallel` is the layout that holds the weights.
ModelDerived of_model(ModelShape const& model, Parallelism const& parallel) {
    bool const one_width = model.kv_lora == 0 || model.nope_dim == model.head_dim;  // as weights_of() counts them
    ModelParameters parameters(model, parallel, {"tp", "pp", "ep"});
    parameters.needed("hidden", model.hidden, "its hidden size")
        .needed("layers", model.layers, "its number of layers")
        .needed("heads", model.other_mixers || model.shared_keys > 0 ? 0 : model.heads,
                "attention heads with their own keys and values as the only mixer of all layers")
        .optional("kv-heads", model.kv_heads)
        .needed("head-dim", one_width ? model.head_dim : 0, "one dimension of all parts of a head")
        .optional("kv-lora", model.kv_lora)
        .optional("q-lora", model.q_lora)
        .optional("experts", model.experts)
        .optional("dense-layers", model.experts > 0 ? model.dense_layers : 0)
        .needed("vocabulary", model.vocabulary, "its vocabulary")
        .text("tied", model.tied_embeddings ? "on" : "off")
        .text("gated", model.gated_mlp ? "on" : "off")
        .optional("tp", parallel.tp)
        .optional("pp", parallel.pp)
        .optional("ep", parallel.ep)
        .element();
    if (model.experts == 0 || model.dense_layers > 0) {
        // GPT-2 leaves it out (transformers, GPT2Config, n_inner).
        parameters.needed("mlp", model.mlp == 0 && !model.gated_mlp ? 4 * model.hidden : model.mlp,
                          "the width of its mlp");
    }
    if (model.kv_lora > 0) {
        parameters.needed("rope-dim", model.rope_dim, "the rotated values of a head");
    }
    if (model.dense_between) {
        parameters.needed("dense-layers", 0, "that its dense layers are the first ones");
    }
    if (model.experts > 0) {
        parameters.needed("expert-mlp", model.expert_mlp, "the width of an expert")
            .optional("shared-experts", model.shared_experts);
    }
    return parameters.derived();
}

}  // namespace

PatternType const& type() {
    static PatternType const reshard{
        "reshard",    "weights from one tp, pp, ep and dp layout to another: weight sync, checkpoints",
        infos,        phases,
        presets_json, make,
        of_model};
    return reshard;
}

}  // namespace dlmb::reshard
