// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/collective/collective.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/sizes/inequality.hpp"
#include "patterns/collective/byte_matrix.hpp"
#include "patterns/readers.hpp"
#include "patterns/trained_model.hpp"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <tuple>

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
    {"in-place", "on: reductions, gathers and scatters work in one buffer (rooted ones at their root)", "off"},
    {"root", "reduce, gather(v), scatter(v), broadcast: the rank that has the whole", "0"},
    {"route", "sendrecv: ring (to the next rank) or ping_pong (there and back, rank r and rank r + ranks / 2)", "ring"},
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
     "lognormal:GINI, zipf:S, hot_rank:R, power_law:ALPHA, intra_host:R, file:PATH; alltoallv also distance:SPREAD",
     "balanced"},
};

Element read_any_element(Parameters const& parameters) {
    std::string const& text = parameters.find("element")->second;
    auto const element = element_named(text);
    if (!element) {
        throw UsageError(fmt::format("--element '{}': expected {}", text, element_names));
    }
    return *element;
}

bool read_in_place(Parameters const& parameters, Kind kind) {
    bool const on = read_switch(parameters, "in-place");
    if (on && !info_of(kind).in_place) {
        throw UsageError(fmt::format("--in-place on: --operation {} has no such form; reductions, gathers and scatters "
                                     "have",
                                     info_of(kind).name));
    }
    return on;
}

/// SPREAD of --skew distance:SPREAD: 1: in proportion to the distance of the ranks, nothing to itself; 0: equal parts.
std::optional<double> read_spread(Parameters const& parameters, Kind kind) {
    std::string const& text = parameters.find("skew")->second;
    constexpr std::string_view prefix = "distance:";
    if (!text.starts_with(prefix)) {
        return std::nullopt;
    }
    auto const spread = parse_whole<double>(std::string_view(text).substr(prefix.size()));
    if (kind != Kind::alltoallv || !spread || !(*spread >= 0 && *spread <= 1)) {
        throw UsageError(fmt::format("--skew '{}': expected distance:SPREAD with SPREAD from 0 to 1, of --operation "
                                     "alltoallv",
                                     text));
    }
    return spread;
}

Skew read_shares(Parameters const& parameters, Kind kind, WorldShape const& world) {
    Skew skew = read_skew(parameters, world);
    if (info_of(kind).shares && skew.intra_host != 1) {
        throw UsageError(fmt::format("--skew '{}': the parts of --operation {} are the same for all ranks, so none is "
                                     "on their node",
                                     parameters.find("skew")->second, info_of(kind).name));
    }
    return skew;
}

Route read_route(Parameters const& parameters, Kind kind, int ranks) {
    auto const route = read_enum<Route>(parameters, "route", {"ring", "ping_pong"});
    if (kind == Kind::sendrecv && route == Route::ping_pong && ranks % 2 != 0) {
        throw UsageError(fmt::format("--route ping_pong: {} ranks do not divide into pairs", ranks));
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

Windows read_windows(Parameters const& parameters, Params const& params, int ranks) {
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
    windows.pairs = parameters.find("pairs")->second == "all" ? ranks / 2 : read_int(parameters, "pairs", 1, ranks / 2);
    if (params.message_bytes > max_message_bytes / static_cast<Bytes>(windows.messages)) {
        throw UsageError(fmt::format("--window {}: so many messages of {} B are more than {} B in one window",
                                     windows.messages, params.message_bytes, max_message_bytes));
    }
    return windows;
}

ComputeBeside read_compute(Parameters const& parameters) {
    constexpr double longest_us = 1e9;
    std::size_t const kind = read_choice(parameters, "compute", {"none", "busy", "gemm"});
    bool const known = parameters.find("compute-us")->second != "auto";
    double const us = known ? read_real(parameters, "compute-us", 0, longest_us) : 0;
    return {kind > 0, std::llround(us * nanoseconds_per_microsecond), kind == 2,
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
                                     parameters.find("message-size")->second, name_of(params.element), size));
    }
    return bytes;
}

constexpr int channel = 0;

/// Both at once, as ncclSend and ncclRecv in one group; alone, a rank sends to itself.
void add_ring(PlanBuilder& builder, GroupId all, Bytes bytes, int ranks, Rank me) {
    builder.send(all, (me + 1) % ranks, bytes, channel, 0, "sendrecv");
    builder.recv(all, (me + ranks - 1) % ranks, bytes, channel, 0, "sendrecv");
}

void add_ping_pongs(PlanBuilder& builder, GroupId all, Params const& params, int ranks, Rank me) {
    int const half = ranks / 2;
    Bytes const bytes = params.message_bytes;
    for (int own = 0; own < params.channels; ++own) {
        if (me < half) {
            StepId const ping = builder.send(all, me + half, bytes, own, -1, "sendrecv.ping");
            builder.recv(all, me + half, bytes, own, -1, "sendrecv.pong", {ping});
        } else {
            StepId const ping = builder.recv(all, me - half, bytes, own, -1, "sendrecv.ping");
            builder.send(all, me - half, bytes, own, -1, "sendrecv.pong", {ping});
        }
    }
}

/// osu_bw and osu_mbw_mr: a window of messages, then an answer of a byte, which the next window waits for. osu_bibw:
/// windows both ways at once, receives first, and no answer.
void add_windows(PlanBuilder& builder, GroupId all, Params const& params, int ranks, Rank me) {
    constexpr Bytes answer_bytes = 1;
    constexpr Bytes page_bytes = 4096;
    int const half = ranks / 2;
    bool const sends = me < params.windows.pairs;
    if (!sends && (me < half || me >= half + params.windows.pairs)) {
        return;
    }
    Rank const peer = sends ? me + half : me - half;
    Bytes const bytes = params.message_bytes;
    MessageWindow const window{static_cast<Bytes>(params.windows.messages),
                               params.windows.one_buffer ? 0 : (bytes + page_bytes - 1) / page_bytes * page_bytes};
    std::string const label(info_of(params.kind).name);
    if (params.kind == Kind::bibandwidth) {
        builder.recv(all, peer, bytes, channel, 0, label, {}, window);
        builder.send(all, peer, bytes, channel, 0, label, {}, window);
    } else if (sends) {
        StepId const sent = builder.send(all, peer, bytes, channel, -1, label, {}, window);
        builder.recv(all, peer, answer_bytes, channel, -1, label + ".answer", {sent});
    } else {
        StepId const received = builder.recv(all, peer, bytes, channel, -1, label, {}, window);
        builder.send(all, peer, answer_bytes, channel, -1, label + ".answer", {received});
    }
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

class Collective final : public Pattern {
public:
    Collective(Params const& params, WorldShape const& world) : params_(params), world_(world) {
        if (params.kind == Kind::alltoallv || info_of(params.kind).shares) {
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
        std::vector<Bytes> const equal(ranks, bytes);
        KindInfo const& info = info_of(params_.kind);
        SharedBytes const whole =
            info.shares ? SharedBytes(own.statistics) : SharedBytes(info.per_rank ? bytes * ranks : bytes);
        std::string const label(info.name);
        auto const [element, reduction, root] = std::tuple(params_.element, params_.reduction, params_.root);
        PlanBuilder builder(me);
        builder.in_place(params_.in_place);
        GroupId const all = builder.group(consecutive_group(world_, me, world_.ranks));
        switch (params_.kind) {
        case Kind::allreduce:
            builder.all_reduce(all, bytes, element, reduction, label);
            break;
        case Kind::reduce:
            builder.reduce(all, root, bytes, element, reduction, label);
            break;
        case Kind::reduce_scatter_block:
        case Kind::reduce_scatter:
            builder.reduce_scatter(all, whole, element, reduction, label);
            break;
        case Kind::allgather:
        case Kind::allgatherv:
            builder.all_gather(all, whole, element, label);
            break;
        case Kind::gather:
        case Kind::gatherv:
            builder.gather(all, root, whole, element, label);
            break;
        case Kind::scatter:
        case Kind::scatterv:
            builder.scatter(all, root, whole, element, label);
            break;
        case Kind::broadcast:
            builder.broadcast(all, root, bytes, element, label);
            break;
        case Kind::barrier:
            builder.barrier(all, label);
            break;
        case Kind::alltoall:
            builder.exchange(all, equal, equal, label);
            break;
        case Kind::alltoallv:
            builder.exchange(all, own.statistics, matrix_->column(me, draw.seed), label);
            break;
        case Kind::sendrecv:
            if (params_.route == Route::ring) {
                add_ring(builder, all, bytes, world_.ranks, me);
            } else {
                add_ping_pongs(builder, all, params_, world_.ranks, me);
            }
            break;
        case Kind::bandwidth:
        case Kind::bibandwidth:
        case Kind::message_rate:
            add_windows(builder, all, params_, world_.ranks, me);
            break;
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

    [[nodiscard]] std::vector<OperationUse> operations() const override { return operations_of(params_); }

    [[nodiscard]] OsuProgram osu_program() const override {
        if (info_of(params_.kind).windows) {
            return osu_windows(params_.message_bytes, params_.kind == Kind::message_rate, params_.windows.pairs);
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
    std::optional<ByteMatrix> matrix_;  // where --skew means something
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<Collective>(read_params(parameters, world), world);
}

constexpr std::string_view compute_parameters[] = {"compute", "compute-us", "compute-progress"};

std::string_view set_by_communication(Parameters const& parameters) {
    bool const is_set = parameters.find("compute")->second != "none" && parameters.find("compute-us")->second == "auto";
    return is_set ? compute_parameters[1] : std::string_view();
}

bool has_sizes(Parameters const& parameters) {
    return parameters.find("operation")->second != info_of(Kind::barrier).name;
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
    params.windows = read_windows(parameters, params, world.ranks);
    params.compute = read_compute(parameters);
    params.spread = read_spread(parameters, params.kind);
    params.skew = params.spread ? Skew{} : read_shares(parameters, params.kind, world);
    return params;
}

namespace {

std::vector<std::string_view> named(Parameters const& parameters) {
    std::string const& operation = parameters.find("operation")->second;
    bool const windows = std::any_of(std::begin(kind_table), std::end(kind_table),
                                     [&](KindInfo const& kind) { return kind.windows && kind.name == operation; });
    return windows ? std::vector<std::string_view>{"operation", "window", "pairs"}
                   : std::vector<std::string_view>{"operation"};
}

}  // namespace

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
