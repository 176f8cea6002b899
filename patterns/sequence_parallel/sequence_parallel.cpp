// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sequence_parallel/sequence_parallel.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "patterns/model_parameters.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

#include <limits>
#include <string>
#include <utility>

namespace dlmb::sequence_parallel {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

// Together at most 2^56 values per tensor, so that bytes stay far below 2^64.
constexpr std::uint64_t max_tokens = std::uint64_t{1} << 32;
constexpr std::uint64_t max_heads = std::uint64_t{1} << 12;
constexpr std::uint64_t max_head_dim = std::uint64_t{1} << 12;
constexpr int max_layers = 65536;

constexpr ParameterInfo infos[] = {
    {"kind", "ulysses (exchanges turn sequence shares into head shares), ring (keys and values go round)", "ulysses"},
    {"batch", "sequences", "1"},
    {"sequence", "tokens of one sequence, over all ranks", "65536"},
    {"heads", "attention heads (queries)", "32"},
    {"kv-heads", "heads of keys and values; 0: as many as --heads", "0"},
    {"head-dim", "values of one head", "128"},
    {"layers", "attention layers in one iteration", "1"},
    {"sp", "ranks that share one sequence; 0: all ranks", "0"},
    {"direction", "forward, backward, both", "both"},
    {"element", "type of activations: bf16, fp16, fp32", "bf16"},
    {"gradient-element", "ring: type in which dk and dv are added up on their way: bf16, fp16, fp32", "fp32"},
    {"compute-ns", "ring: time of attention over one block, overlapped with the transfer of the next; 0: none", "0"},
    pack_parameter,
    memory_limit_parameter,
};

enum class Kind { ulysses, ring };

/// A tensor [batch, sequence, heads, head_dim] of the whole sequence.
struct Tensor {
    std::uint64_t batch = 1;
    std::uint64_t sequence = 1;
    std::uint64_t heads = 1;
    std::uint64_t head_dim = 1;
};

struct Params {
    Kind kind = Kind::ulysses;
    Tensor queries;  // and the output, and the gradients of both
    Tensor keys;     // and values; grouped-query attention has fewer heads here
    int layers = 1;
    int sp = 1;  // ranks that share one sequence
    Passes direction = Passes::both;
    Element element = Element::bf16;
    Element gradient_element = Element::fp32;  // ring: of dk and dv on their way
    Nanoseconds compute_ns = 0;                // ring: attention over one block
    Pack pack = Pack::none;                    // ulysses: who transposes
    Bytes memory_limit = 0;

    [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(sp); }
    /// Bytes that one rank holds, its share of the sequence: batch * sequence / ranks * heads * head_dim elements
    /// (DeepSpeed Ulysses, arXiv 2309.14509, section 3.2; ring attention, arXiv 2310.01889).
    [[nodiscard]] Bytes local_bytes(Tensor const& tensor, Element type) const {
        return tensor.batch * (tensor.sequence / ranks()) * tensor.heads * tensor.head_dim * size_of(type);
    }
    /// Bytes that one rank sends each other one so that every rank has all tokens of its heads.
    [[nodiscard]] Bytes bytes_per_peer(Tensor const& tensor) const { return local_bytes(tensor, element) / ranks(); }
    /// Bytes of one token's heads on one rank.
    [[nodiscard]] Bytes row_bytes(Tensor const& tensor) const {
        return tensor.heads / ranks() * tensor.head_dim * size_of(element);
    }
};

void read_tensors(Parameters const& parameters, Params& params) {
    params.queries = {
        read_unsigned(parameters, "batch", 1, max_tokens), read_unsigned(parameters, "sequence", 1, max_tokens),
        read_unsigned(parameters, "heads", 1, max_heads), read_unsigned(parameters, "head-dim", 1, max_head_dim)};
    Tensor const& queries = params.queries;
    if (queries.batch > max_tokens / queries.sequence) {
        throw UsageError(
            fmt::format("--batch {} and --sequence {}: above {} tokens", queries.batch, queries.sequence, max_tokens));
    }
    params.keys = queries;
    if (std::uint64_t const kv_heads = read_unsigned(parameters, "kv-heads", 0, queries.heads); kv_heads != 0) {
        params.keys.heads = kv_heads;
    }
    if (queries.heads % params.keys.heads != 0) {
        throw UsageError(fmt::format("--kv-heads {}: does not divide --heads {}", params.keys.heads, queries.heads));
    }
}

void check_layout(Params const& params) {
    if (params.queries.sequence % params.ranks() != 0) {
        throw UsageError(fmt::format("--sequence {}: does not divide over {} sequence-parallel ranks",
                                     params.queries.sequence, params.sp));
    }
    for (auto const& [option, heads] :
         {std::pair("--heads", params.queries.heads), std::pair("--kv-heads", params.keys.heads)}) {
        if (params.kind == Kind::ulysses && heads % params.ranks() != 0) {
            throw UsageError(fmt::format("--kind ulysses: {} {} do not divide over {} sequence-parallel ranks; "
                                         "uneven heads are not supported",
                                         option, heads, params.sp));
        }
    }
}

void check_pack(Params const& params) {
    if (params.pack != Pack::none && params.kind == Kind::ring) {
        throw UsageError(fmt::format("--pack {}: --kind ring sends its blocks as they lie", name_of(params.pack)));
    }
    for (auto const& [option, tensor] : {std::pair("--heads", params.queries), std::pair("--kv-heads", params.keys)}) {
        require_movable_rows(
            params.pack, params.row_bytes(tensor),
            fmt::format("{} {} over {} ranks, --head-dim {}", option, tensor.heads, params.sp, tensor.head_dim));
    }
}

int read_sp(Parameters const& parameters, WorldShape const& world) {
    int const sp = read_int(parameters, "sp", 0, std::numeric_limits<int>::max());
    if (sp != 0 && world.ranks % sp != 0) {
        throw UsageError(fmt::format("--sp {}: does not divide {} ranks", sp, world.ranks));
    }
    return sp == 0 ? world.ranks : sp;
}

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    params.kind = read_enum<Kind>(parameters, "kind", {"ulysses", "ring"});
    read_tensors(parameters, params);
    params.layers = read_int(parameters, "layers", 1, max_layers);
    params.sp = read_sp(parameters, world);
    params.direction = read_passes(parameters);
    params.element = read_element(parameters, "element", training_elements);
    params.gradient_element = read_element(parameters, "gradient-element", training_elements);
    params.compute_ns = read_nanoseconds(parameters, "compute-ns");
    params.memory_limit = read_memory_limit(parameters);
    params.pack = read_pack(parameters);
    check_layout(params);
    check_pack(params);
    return params;
}

/// Labels: Ulysses [pack.|unpack.]phase.tensor[.layer], tensor one of q, k, v, out; ring phase.kv|dkv|compute[.layer].
class AttentionSteps {
public:
    AttentionSteps(Params const& params, WorldShape const& world, Rank me)
        : params_(params), me_(me % params.sp), builder_(me),
          group_(builder_.group(consecutive_group(world, me, params.sp))), budget_(params.memory_limit) {}

    /// Ulysses: all-to-all exchanges around attention (DeepSpeed, deepspeed/sequence/layer.py).
    /// Forward per layer: q, k, v to head shares, out back to sequence shares. Backward the same tensors' gradients, in
    /// reverse. One after the other, as the synchronous calls of DeepSpeed.
    void ulysses_forward(int layer) {
        for (char const* name : {"q", "k", "v", "out"}) {
            exchange("forward", name, layer);
        }
    }
    void ulysses_backward(int layer) {
        for (char const* name : {"out", "v", "k", "q"}) {
            exchange("backward", name, layer);
        }
    }

    /// Ring attention: keys and values travel round the ring while each rank computes with the ones it has
    /// (ring-flash-attention, ring_flash_attn/ring_flash_attn.py). One step of the ring is a batch of four: send k,
    /// receive k, send v, receive v; to the next rank, from the one before. Forward: ranks - 1 steps. Backward:
    /// ranks - 1 steps for k and v and, on a second channel, ranks steps for dk and dv, whose last brings them home.
    void ring_forward(int layer) {
        for (int step = 0; step < params_.sp; ++step) {
            attend("forward", step, layer);
        }
    }
    /// dk and dv of a block leave when this rank's part is added: after its attention and after the arrival of the sum
    /// so far.
    void ring_backward(int layer) {
        std::vector<StepId> sums;
        for (int step = 0; step < params_.sp; ++step) {
            attend("backward", step, layer);
            after_.insert(after_.end(), sums.begin(), sums.end());
            sums = pass("backward.dkv", channel_of_gradients, params_.gradient_element, layer);
        }
        after_ = std::move(sums);
    }

    [[nodiscard]] Plan finish() && { return std::move(builder_).finish(); }

private:
    static constexpr int channel_of_keys = 0;
    static constexpr int channel_of_gradients = 1;

    void exchange(std::string_view phase, std::string_view name, int layer) {
        Tensor const& tensor = name == "k" || name == "v" ? params_.keys : params_.queries;
        Bytes const per_peer = params_.bytes_per_peer(tensor);
        if (params_.pack != Pack::none) {
            bool const to_heads = (phase == "forward") != (name == "out");
            builder_.share_buffers(!budget_.take(4 * per_peer * params_.ranks()));
            after_ = {add_exchange_of_rows(
                builder_, params_.pack, group_, to_heads ? rows_of_tokens(tensor) : rows_of_heads(tensor),
                to_heads ? rows_of_heads(tensor) : rows_of_tokens(tensor), params_.row_bytes(tensor),
                label(fmt::format("{}.{}", phase, name), layer), after_)};
            return;
        }
        std::vector<Bytes> const bytes(params_.ranks(), per_peer);
        builder_.share_buffers(!budget_.take(2 * per_peer * params_.ranks()));
        after_ = {builder_.exchange(group_, bytes, bytes, label(fmt::format("{}.{}", phase, name), layer), after_)};
    }

    /// A share of the sequence: rows by batch, token, rank of the heads; they travel by rank.
    [[nodiscard]] RowOrder rows_of_tokens(Tensor const& tensor) const {
        std::uint64_t const tokens = tensor.batch * (tensor.sequence / params_.ranks());
        RowOrder order{tokens * params_.ranks(), std::vector<std::uint64_t>(params_.ranks(), tokens), {}, {}};
        for (std::uint64_t rank = 0; rank < params_.ranks(); ++rank) {
            order.moves.push_back({tokens, rank, rank * tokens, params_.ranks(), 1});
        }
        return order;
    }

    /// A share of the heads: rows by batch, then token of the whole sequence. Of one sequence they lie as they travel.
    [[nodiscard]] RowOrder rows_of_heads(Tensor const& tensor) const {
        std::uint64_t const share = tensor.sequence / params_.ranks();
        std::uint64_t const tokens = tensor.batch * share;
        RowOrder order{tokens * params_.ranks(), std::vector<std::uint64_t>(params_.ranks(), tokens), {}, {}};
        for (std::uint64_t rank = 0; rank < params_.ranks() && tensor.batch > 1; ++rank) {
            for (std::uint64_t sequence = 0; sequence < tensor.batch; ++sequence) {
                order.moves.push_back(
                    {share, sequence * tensor.sequence + rank * share, rank * tokens + sequence * share, 1, 1});
            }
        }
        return order;
    }

    /// Attention over the block that is here, while the next one arrives; afterwards both are ready.
    void attend(std::string const& phase, int step, int layer) {
        std::vector<StepId> done;
        if (step + 1 < params_.sp) {
            done = pass(phase + ".kv", channel_of_keys, params_.element, layer);
        }
        if (params_.compute_ns > 0) {
            done.push_back(builder_.compute(params_.compute_ns, label(phase + ".compute", layer), after_));
        }
        if (!done.empty()) {
            after_ = std::move(done);
        }
    }

    std::vector<StepId> pass(std::string const& name, int channel, Element element, int layer) {
        Bytes const bytes = params_.local_bytes(params_.keys, element);
        builder_.share_buffers(!budget_.take(4 * bytes));
        int const batch = batches_++;
        std::vector<StepId> steps;
        for (int tensor = 0; tensor < 2; ++tensor) {
            Rank const next = (me_ + 1) % params_.sp;
            Rank const previous = (me_ + params_.sp - 1) % params_.sp;
            steps.push_back(builder_.send(group_, next, bytes, channel, batch, label(name, layer), after_));
            steps.push_back(builder_.recv(group_, previous, bytes, channel, batch, label(name, layer), after_));
        }
        return steps;
    }

    [[nodiscard]] std::string label(std::string const& name, int layer) const {
        return params_.layers > 1 ? fmt::format("{}.{}", name, layer) : name;
    }

    Params const& params_;
    Rank me_;  // in the group
    PlanBuilder builder_;
    GroupId group_;
    BufferBudget budget_;
    int batches_ = 0;
    std::vector<StepId> after_;  // what the next exchange or block waits for
};

/// A ring of one rank has no steps.
Plan plan_of(Params const& params, WorldShape const& world, Rank me) {
    AttentionSteps steps(params, world, me);
    bool const ring = params.kind == Kind::ring;
    int const layers = ring && params.sp == 1 ? 0 : params.layers;
    for (int layer = 0; layer < layers && params.direction != Passes::backward; ++layer) {
        ring ? steps.ring_forward(layer) : steps.ulysses_forward(layer);
    }
    for (int layer = layers; layer-- > 0 && params.direction != Passes::forward;) {
        ring ? steps.ring_backward(layer) : steps.ulysses_backward(layer);
    }
    return std::move(steps).finish();
}

std::vector<OperationUse> operations_of(Params const& params) {
    if (params.kind == Kind::ring) {
        return {{OperationKind::send}, {OperationKind::recv}};
    }
    bool const fused = params.pack == Pack::fused;
    return {{OperationKind::exchange, !fused, fused}};
}

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    Params const params = read_params(parameters, world);
    return std::make_unique<FixedPattern>(
        operations_of(params), [params, world](Rank me) { return plan_of(params, world, me); },
        Parameters{{"kv-heads", fmt::format("{}", params.keys.heads)}, {"sp", fmt::format("{}", params.sp)}});
}

constexpr std::string_view phases[] = {"pack", "forward", "unpack", "backward"};
constexpr std::string_view compute_parameters[] = {"compute-ns"};

ModelDerived of_model(ModelShape const& model, Parallelism const& parallel) {
    ModelParameters parameters(model, parallel, {"cp"});
    parameters.needed("heads", model.heads, "its attention heads")
        .optional("kv-heads", model.kv_heads)
        .needed("head-dim", model.kv_lora == 0 ? model.head_dim : 0, "one dimension of all parts of a head")
        .needed("layers", model.layers - model.attention_free, "its number of layers with attention")
        .optional("sp", parallel.cp)
        .element();
    return parameters.derived();
}

}  // namespace

PatternType const& type() {
    static PatternType const sequence_parallel{"sequence_parallel",
                                               "attention over long sequences: Ulysses exchanges or ring attention",
                                               infos,
                                               phases,
                                               presets_json,
                                               make,
                                               of_model,
                                               compute_parameters};
    return sequence_parallel;
}

}  // namespace dlmb::sequence_parallel
