// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/collective/collective.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/sizes/inequality.hpp"
#include "patterns/collective/byte_matrix.hpp"
#include "patterns/collective/messages.hpp"
#include "patterns/readers.hpp"
#include "patterns/trained_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <optional>

namespace dlmb::collective {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

/// The largest --message-size: sizes of a million ranks still add up below 2^62.
constexpr Bytes max_message_bytes = Bytes{1} << 42;

constexpr ParameterInfo infos[] = {
    {"operation",
     "allreduce, reduce, reduce_scatter_block, reduce_scatter, allgather(v), gather(v), scatter(v), broadcast, "
     "barrier, alltoall(v), sendrecv, bandwidth, bibandwidth, message_rate",
     "allreduce"},
    {"message-size",
     "[MIN:]MAX bytes, doubling from MIN (8 where left out; N:N is one size): the buffer, or, of allgather(v), "
     "gather(v), scatter(v) and alltoall(v), the part per rank",
     "8:1M", ParameterKind::sizes},
    {"element", element_names, "fp32"},
    {"reduction", "allreduce, reduce, reduce_scatter(_block): sum, prod, min, max", "sum"},
    {"in-place",
     "on: reductions, gathers, scatters (rooted ones at their root) and alltoall(v) (over mpi) work in one buffer",
     "off"},
    {"root", "reduce, gather(v), scatter(v), broadcast: the rank that has the whole", "0"},
    {"route",
     "sendrecv: ring (to the next rank), ping_pong (there and back, rank r and rank r + ranks / 2) or hypercube "
     "(rounds with rank r xor 1, 2, 4 ...); bandwidth: fan_in or fan_out (all other nodes to or from the first)",
     "ring"},
    {"channels", "of --route ping_pong: messages there and back at once, each with a tag of its own, up to 128", "1"},
    {"window", "bandwidth, bibandwidth, message_rate: messages in flight, from 1 to 65536", "64"},
    {"window-buffers",
     "of these: single (the messages of a window carry one payload from one place to one place) or multiple (each has "
     "pages of its own)",
     "single"},
    {"pairs", "of these: all, or how many ranks r of the first half send to rank r + ranks / 2", "all"},
    {"compute",
     "beside the operation: none, busy (the host watches the clock) or gemm (it multiplies matrices); the default of "
     "--method is nonblocking then, where a backend has it",
     "none"},
    {"compute-us", "how long, or auto: as long as the same cell took without computing (--compute none,busy)", "auto"},
    {"compute-progress",
     "on: the host looks after the operation while it computes; off: before and after only, as OSU does", "off"},
    {"skew",
     "alltoallv, allgatherv, gatherv, scatterv, reduce_scatter, how uneven the ranks' shares are: balanced, "
     "lognormal:GINI, zipf:S, hot_rank:R, power_law:ALPHA, intra_host:R, file:PATH; alltoallv also distance:SPREAD and "
     "neighbors:DIMENSIONS:RADIUS",
     "balanced"},
};

Element read_any_element(Parameters const& parameters) {
    std::string const& text = text_of(parameters, "element");
    auto const element = element_named(text);
    if (!element) {
        throw UsageError(fmt::format("--element '{}': expected {}", text, element_names));
    }
    return *element;
}

bool read_in_place(Parameters const& parameters, Kind kind) {
    bool const on = read_switch(parameters, "in-place");
    if (on && !info_of(kind).in_place) {
        throw UsageError(fmt::format("--in-place on: --operation {} has no such form; reductions, gathers, scatters "
                                     "and alltoall(v) have",
                                     info_of(kind).name));
    }
    std::string const& skew = text_of(parameters, "skew");
    if (on && kind == Kind::alltoallv && skew != "balanced" && !skew.starts_with("neighbors:")) {
        throw UsageError(fmt::format("--in-place on: MPI_Alltoallv then gets from each rank as much as it sends to it, "
                                     "which --skew '{}' does not say; balanced and neighbors:D:R do",
                                     skew));
    }
    return on;
}

/// SPREAD of --skew distance:SPREAD: 1: in proportion to the distance of the ranks, nothing to itself; 0: equal parts.
std::optional<double> read_spread(Parameters const& parameters, Kind kind) {
    std::string const& text = text_of(parameters, "skew");
    constexpr std::string_view prefix = "distance:";
    if (!text.starts_with(prefix)) {
        return std::nullopt;
    }
    auto const spread = parse_whole<double>(std::string_view(text).substr(prefix.size()));
    if (kind != Kind::alltoallv || !spread || !(*spread >= 0 && *spread <= 1)) {
        throw UsageError(fmt::format(
            "--skew '{}': expected distance:SPREAD with SPREAD from 0 to 1, of --operation alltoallv", text));
    }
    return spread;
}

/// --skew neighbors:DIMENSIONS:RADIUS; nullopt: another skew.
std::optional<Neighborhood> read_neighbors(Parameters const& parameters, Kind kind, int ranks) {
    std::string_view text = text_of(parameters, "skew");
    constexpr std::string_view prefix = "neighbors:";
    if (!text.starts_with(prefix)) {
        return std::nullopt;
    }
    std::string_view const numbers = text.substr(prefix.size());
    std::size_t const colon = std::min(numbers.find(':'), numbers.size());
    auto const dimensions = parse_whole<int>(numbers.substr(0, colon));
    auto const radius = parse_whole<int>(numbers.substr(std::min(colon + 1, numbers.size())));
    constexpr int most_dimensions = 8;
    if (kind != Kind::alltoallv || !dimensions || !radius || *dimensions < 1 || *dimensions > most_dimensions ||
        *radius < 1) {
        throw UsageError(fmt::format("--skew '{}': expected neighbors:DIMENSIONS:RADIUS with 1 to {} dimensions and a "
                                     "radius from 1 on, of --operation alltoallv",
                                     text, most_dimensions));
    }
    int const shortest = grid_of(ranks, *dimensions).back();
    if (*radius > (shortest - 1) / 2) {
        throw UsageError(fmt::format("--skew '{}': the shortest side of a grid of {} ranks has {}, so a radius of {} "
                                     "meets a neighbour twice; at least {} ranks on a side are needed",
                                     text, ranks, shortest, *radius, 2 * static_cast<std::int64_t>(*radius) + 1));
    }
    return Neighborhood{*dimensions, *radius};
}

Skew read_shares(Parameters const& parameters, Kind kind, WorldShape const& world) {
    Skew skew = read_skew(parameters, world);
    if (info_of(kind).shares && skew.intra_host != 1) {
        throw UsageError(fmt::format("--skew '{}': the parts of --operation {} are the same for all ranks, so none is "
                                     "on their node",
                                     text_of(parameters, "skew"), info_of(kind).name));
    }
    return skew;
}

bool is_fan(Route route) {
    return route == Route::fan_in || route == Route::fan_out;
}

Route read_route(Parameters const& parameters, Kind kind, int ranks) {
    auto const route = read_enum<Route>(parameters, "route", {"ring", "ping_pong", "hypercube", "fan_in", "fan_out"});
    bool const known = is_fan(route) ? kind == Kind::bandwidth : route != Route::hypercube || kind == Kind::sendrecv;
    if (!known) {
        throw UsageError(fmt::format("--route {}: is of --operation {}, not of {}", text_of(parameters, "route"),
                                     is_fan(route) ? "bandwidth" : "sendrecv", info_of(kind).name));
    }
    if (kind == Kind::sendrecv && route == Route::ping_pong && ranks % 2 != 0) {
        throw UsageError(fmt::format("--route ping_pong: {} ranks do not divide into pairs", ranks));
    }
    if (route == Route::hypercube && !std::has_single_bit(static_cast<unsigned>(ranks))) {
        throw UsageError(fmt::format("--route hypercube: {} ranks are no power of two", ranks));
    }
    return route;
}

int read_channels(Parameters const& parameters, Params const& params) {
    constexpr int most = 128;
    int const channels = read_int(parameters, "channels", 1, most);
    if (channels > 1 && (params.kind != Kind::sendrecv || params.route != Route::ping_pong)) {
        throw UsageError(
            fmt::format("--channels {}: only --operation sendrecv --route ping_pong has several", channels));
    }
    return channels;
}

constexpr int largest_window = 65536;

/// How many ranks of the first node have the windows of all others.
int read_hubs(Parameters const& parameters, WorldShape const& world) {
    std::string const& route = text_of(parameters, "route");
    if (text_of(parameters, "pairs") != "all") {
        throw UsageError(fmt::format("--pairs beside --route {}: all ranks take part", route));
    }
    if (world.ranks_per_node == 0) {
        throw UsageError(fmt::format("--route {}: needs as many ranks on every node, one node after the other", route));
    }
    return world.ranks > world.ranks_per_node ? world.ranks_per_node : 1;
}

Windows read_windows(Parameters const& parameters, Params const& params, WorldShape const& world) {
    int const ranks = world.ranks;
    Windows windows;
    windows.messages = read_int(parameters, "window", 1, largest_window);
    windows.one_buffer = read_choice(parameters, "window-buffers", {"single", "multiple"}) == 0;
    if (!info_of(params.kind).windows) {
        return windows;
    }
    std::string_view const name = info_of(params.kind).name;
    if (ranks < 2) {
        throw UsageError(fmt::format("--operation {}: needs pairs of ranks, and there is one rank", name));
    }
    if (is_fan(params.route)) {
        windows.hubs = read_hubs(parameters, world);
        windows.pairs = ranks - windows.hubs;
    } else {
        std::string const& pairs = text_of(parameters, "pairs");
        windows.pairs = pairs == "all" ? ranks / 2 : read_int(parameters, "pairs", 1, ranks / 2);
    }
    if (params.message_bytes > max_message_bytes / static_cast<Bytes>(windows.messages)) {
        throw UsageError(fmt::format("--window {}: so many messages of {} B are more than {} B in one window",
                                     windows.messages, params.message_bytes, max_message_bytes));
    }
    return windows;
}

ComputeBeside read_compute(Parameters const& parameters) {
    std::size_t const kind = read_choice(parameters, "compute", {"none", "busy", "gemm"});
    bool const known = text_of(parameters, "compute-us") != "auto";
    return {kind > 0, known ? read_microseconds(parameters, "compute-us") : 0, kind == 2,
            !read_switch(parameters, "compute-progress")};
}

/// The buffer of a reduce_scatter_block is rounded up to whole elements for each rank; every other size must be whole.
Bytes read_message_bytes(Parameters const& parameters, Params const& params, int ranks) {
    Bytes const bytes = read_bytes(parameters, "message-size", 0, max_message_bytes);
    Bytes const size = size_of(params.element);
    if (params.kind == Kind::barrier) {
        return 0;
    }
    if (params.kind == Kind::reduce_scatter_block) {
        Bytes const parts = size * static_cast<Bytes>(ranks);
        return (bytes + parts - 1) / parts * parts;
    }
    if (bytes % size != 0) {
        throw UsageError(fmt::format("--message-size {}: --element {} of {} B does not divide it",
                                     text_of(parameters, "message-size"), name_of(params.element), size));
    }
    return bytes;
}

std::vector<OperationUse> operations_of(Params const& params) {
    KindInfo const& info = info_of(params.kind);
    if (info.operation == OperationKind::send) {
        return {{OperationKind::send}, {OperationKind::recv}};
    }
    if (info.operation == OperationKind::exchange) {
        return {{info.operation, params.kind == Kind::alltoall}};
    }
    return {{info.operation, !info.shares}};
}

bool has_matrix(Kind kind) {
    return kind == Kind::alltoallv || info_of(kind).shares;
}

class CollectivePattern final : public Pattern {
public:
    CollectivePattern(Params const& params, WorldShape const& world, Parameters resolved)
        : params_(params), world_(world), resolved_(std::move(resolved)) {
        if (has_matrix(params.kind)) {
            matrix_.emplace(params, world);
        }
    }

    [[nodiscard]] RankSetup setup_of(Rank source, Draw draw) const override {
        // The parts of a collective are the same for all ranks.
        Rank const row = info_of(params_.kind).shares ? 0 : source;
        return {{}, matrix_ ? matrix_->row(row, draw.seed) : std::vector<Bytes>{}};
    }

    [[nodiscard]] Plan build(Rank me, Draw draw, RankSetup const& own,
                             std::span<SetupCounts const> /*received_counts*/) const override {
        Bytes const bytes = params_.message_bytes;
        auto const ranks = static_cast<std::size_t>(world_.ranks);
        KindInfo const& info = info_of(params_.kind);
        SharedBytes const whole =
            info.shares ? SharedBytes(own.statistics) : SharedBytes(info.per_rank ? bytes * ranks : bytes);
        std::string const label(info.name);
        PlanBuilder builder(me);
        builder.in_place(params_.in_place);
        GroupId const all = builder.group(consecutive_group(world_, me, world_.ranks));
        switch (info.operation) {
        case OperationKind::barrier:
            builder.barrier(all, label);
            break;
        case OperationKind::exchange: {
            std::vector<Bytes> const sent = matrix_ ? own.statistics : std::vector<Bytes>(ranks, bytes);
            if (params_.in_place) {
                builder.exchange_in_place(all, sent, label);
            } else {
                builder.exchange(all, sent, matrix_ ? matrix_->column(me, draw.seed) : sent, label);
            }
            break;
        }
        case OperationKind::send:
            add_messages(builder, all, params_, world_.ranks, me);
            break;
        default:
            builder.collective({info.operation,
                                all,
                                params_.root,
                                {},
                                {},
                                whole.bytes,
                                params_.element,
                                params_.reduction,
                                whole.shares},
                               label);
        }
        if (ComputeBeside const& compute = params_.compute; compute.computes) {
            // A device multiplies matrices of this shape, the host its own tiles.
            constexpr std::uint64_t edge = 1024;
            builder.compute(compute.busy_ns, label + ".compute", {},
                            compute.multiplies ? std::optional(ProductShape{edge, edge, edge}) : std::nullopt,
                            compute.uninterrupted);
        }
        return std::move(builder).finish();
    }

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        if (info_of(params_.kind).windows) {
            int const directions = params_.kind == Kind::bibandwidth ? 2 : 1;
            return {
                {window_messages, static_cast<double>(params_.windows.messages) * params_.windows.pairs * directions}};
        }
        if (!matrix_) {
            return {};
        }
        return {{"gini_rank", gini(summed)}, {"max_mean_rank", max_over_mean(summed)}};
    }

    [[nodiscard]] Parameters resolved() const override { return resolved_; }

    [[nodiscard]] std::vector<OperationUse> operations() const override { return operations_of(params_); }

    [[nodiscard]] OsuProgram osu_program() const override {
        if (info_of(params_.kind).windows) {
            OsuProgram program =
                osu_windows(params_.message_bytes, params_.kind == Kind::message_rate, params_.windows.pairs);
            program.timed_pairs = params_.windows.hubs > 0 ? params_.windows.hubs : program.timed_pairs;
            return program;
        }
        if (params_.kind == Kind::sendrecv && params_.route == Route::ping_pong) {
            return osu_latency(params_.message_bytes);
        }
        OsuProgram program = osu_collective(params_.message_bytes);
        program.barriers = params_.kind == Kind::barrier ? 0 : 1;
        return program;
    }

private:
    Params params_;
    WorldShape world_;
    Parameters resolved_;
    std::optional<ByteMatrix> matrix_;  // where --skew means something
};

/// Back to their defaults: parameters that the operation has no use for, so that no cell says what is not sent.
Parameters without_use(Parameters const& parameters, Params const& params) {
    KindInfo const& info = info_of(params.kind);
    struct OptionUse {
        std::string_view name;
        bool used;
    };
    Parameters defaults;
    for (OptionUse const& option : {OptionUse{"reduction", reduces(info.operation)},
                                    {"element", params.kind != Kind::barrier},
                                    {"root", has_root(info.operation)},
                                    {"route", params.kind == Kind::sendrecv || is_fan(params.route)},
                                    {"window", info.windows},
                                    {"window-buffers", info.windows},
                                    {"pairs", info.windows},
                                    {"compute-us", params.compute.computes},
                                    {"compute-progress", params.compute.computes},
                                    {"skew", has_matrix(params.kind)}}) {
        auto const* const known = std::find_if(std::begin(infos), std::end(infos),
                                               [&](ParameterInfo const& each) { return each.name == option.name; });
        if (!option.used && text_of(parameters, option.name) != known->value) {
            defaults.emplace(option.name, known->value);
        }
    }
    return defaults;
}

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    Params const params = read_params(parameters, world);
    return std::make_unique<CollectivePattern>(params, world, without_use(parameters, params));
}

constexpr std::string_view compute_parameters[] = {"compute", "compute-us", "compute-progress"};

std::string_view set_by_communication(Parameters const& parameters) {
    bool const is_set = text_of(parameters, "compute") != "none" && text_of(parameters, "compute-us") == "auto";
    return is_set ? compute_parameters[1] : std::string_view();
}

bool has_sizes(Parameters const& parameters) {
    return text_of(parameters, "operation") != info_of(Kind::barrier).name;
}

std::vector<std::string_view> named(Parameters const& parameters) {
    std::string const& operation = text_of(parameters, "operation");
    bool const windows = std::any_of(std::begin(kind_table), std::end(kind_table),
                                     [&](KindInfo const& kind) { return kind.windows && kind.name == operation; });
    if (text_of(parameters, "route").starts_with("fan_")) {
        return {"operation", "window"};
    }
    return windows ? std::vector<std::string_view>{"operation", "window", "pairs"}
                   : std::vector<std::string_view>{"operation"};
}

/// The allreduce of data parallelism without buckets: all gradients of a rank.
ModelDerived of_model(ModelShape const& model, Parallelism const& parallel) {
    ModelParameters parameters(model, parallel, {"tp", "pp"});
    parameters.text("operation", info_of(Kind::allreduce).name)
        .computed("message-size",
                  [&] {
                      Bytes const bytes =
                          gradients_of(model, parallel) * size_of(model.element.value_or(Element::fp32));
                      return fmt::format("{0}:{0}", bytes);
                  })
        .element();
    return parameters.derived();
}

}  // namespace

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    params.kind = static_cast<Kind>(read_choice(parameters, "operation", kind_names));
    params.element = read_any_element(parameters);
    params.message_bytes = read_message_bytes(parameters, params, world.ranks);
    params.reduction = read_enum<Reduction>(parameters, "reduction", {"sum", "prod", "min", "max"});
    params.in_place = read_in_place(parameters, params.kind);
    params.root = static_cast<Rank>(read_unsigned(parameters, "root", 0, static_cast<std::uint64_t>(world.ranks) - 1));
    params.route = read_route(parameters, params.kind, world.ranks);
    params.channels = read_channels(parameters, params);
    params.windows = read_windows(parameters, params, world);
    params.compute = read_compute(parameters);
    params.spread = read_spread(parameters, params.kind);
    params.neighbors = read_neighbors(parameters, params.kind, world.ranks);
    params.skew = params.spread || params.neighbors ? Skew{} : read_shares(parameters, params.kind, world);
    return params;
}

PatternType const& type() {
    static PatternType const collective{
        .name = "collective",
        .summary = "one plain operation over a range of message sizes, as OSU and nccl-tests measure it",
        .parameters = infos,
        .phases = kind_names,
        .presets_json = presets_json,
        .make = make,
        .of_model = of_model,
        .compute_parameters = compute_parameters,
        .computes_beside = compute_parameters[0],
        .set_by_communication = set_by_communication,
        .has_sizes = has_sizes,
        .named = named};
    return collective;
}

}  // namespace dlmb::collective
