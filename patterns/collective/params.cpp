// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/collective/params.hpp"

#include "common/base/error.hpp"
#include "common/plan/plan.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

namespace dlmb::collective {
namespace {

constexpr ParameterInfo infos[] = {
    {"operation", "allreduce, reduce_scatter, allgather, broadcast, alltoall, alltoallv, sendrecv", "allreduce"},
    {"message-size",
     "[MIN:]MAX bytes, doubling from MIN (8 where left out; N:N is one size): the buffer, or, of allgather and "
     "alltoall(v), the part per peer",
     "8:1M", ParameterKind::sizes},
    {"element", element_names, "fp32"},
    {"reduction", "allreduce, reduce_scatter: sum, prod, min, max", "sum"},
    {"in-place", "on: allreduce, reduce_scatter and allgather work in one buffer", "off"},
    {"root", "broadcast: the rank that sends", "0"},
    {"route", "sendrecv: ring (to the next rank) or ping_pong (there and back, rank r and rank r + ranks / 2)", "ring"},
    {"skew",
     "alltoallv, how uneven the ranks' shares are: balanced, lognormal:GINI, zipf:S, hot_rank:R, power_law:ALPHA, "
     "intra_host:R, file:PATH",
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

bool reduces(Kind kind) {
    return kind == Kind::allreduce || kind == Kind::reduce_scatter;
}

Reduction read_reduction(Parameters const& parameters, Kind kind) {
    auto const reduction = read_enum<Reduction>(parameters, "reduction", {"sum", "prod", "min", "max"});
    bool const ordered = reduction == Reduction::min || reduction == Reduction::max;
    if (reduces(kind) && ordered && parameters.find("element")->second == "int8") {
        throw UsageError(fmt::format(
            "--reduction {}: not defined for --element int8, bytes are compared without a sign; write uint8 or int32",
            name_of(reduction)));
    }
    return reduction;
}

bool read_in_place(Parameters const& parameters, Kind kind) {
    bool const on = read_switch(parameters, "in-place");
    if (on && !reduces(kind) && kind != Kind::allgather) {
        throw UsageError(
            fmt::format("--in-place on: --operation {} has no such form; allreduce, reduce_scatter and allgather have",
                        kind_names.at(static_cast<std::size_t>(kind))));
    }
    return on;
}

Route read_route(Parameters const& parameters, Kind kind, int ranks) {
    auto const route = read_enum<Route>(parameters, "route", {"ring", "ping_pong"});
    if (kind == Kind::sendrecv && route == Route::ping_pong && ranks % 2 != 0) {
        throw UsageError(fmt::format("--route ping_pong: {} ranks do not divide into pairs", ranks));
    }
    return route;
}

/// The buffer of a reduce_scatter is rounded up to whole elements for each rank; every other size must be whole.
Bytes read_message_bytes(Parameters const& parameters, Params const& params, int ranks) {
    Bytes const bytes = read_bytes(parameters, "message-size", 0, max_message_bytes);
    Bytes const size = size_of(params.element);
    if (params.kind == Kind::reduce_scatter) {
        Bytes const parts = size * static_cast<Bytes>(ranks);
        return (bytes + parts - 1) / parts * parts;
    }
    if (bytes % size != 0) {
        throw UsageError(fmt::format("--message-size {}: --element {} of {} B does not divide it",
                                     parameters.find("message-size")->second, name_of(params.element), size));
    }
    return bytes;
}

}  // namespace

std::span<ParameterInfo const> parameter_infos() {
    return infos;
}

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    params.kind = static_cast<Kind>(read_choice(parameters, "operation", kind_names));
    params.element = read_any_element(parameters);
    params.message_bytes = read_message_bytes(parameters, params, world.ranks);
    params.reduction = read_reduction(parameters, params.kind);
    params.in_place = read_in_place(parameters, params.kind);
    params.root = static_cast<Rank>(read_unsigned(parameters, "root", 0, static_cast<std::uint64_t>(world.ranks) - 1));
    params.route = read_route(parameters, params.kind, world.ranks);
    params.skew = read_skew(parameters, world);
    return params;
}

}  // namespace dlmb::collective
