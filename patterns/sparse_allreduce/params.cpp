// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sparse_allreduce/params.hpp"

#include "common/base/error.hpp"
#include "patterns/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace dlmb::sparse_allreduce {
namespace {

constexpr std::uint64_t max_picks = std::uint64_t{1} << 30;  // of all ranks: every rank holds them at set-up
constexpr int max_ranks = 1 << 17;                           // sums of values stay exact (gradients.hpp)
constexpr std::uint64_t max_interval = 1'000'000;

constexpr ParameterInfo infos[] = {
    {"algorithm", "dense, topk_allgather, gtopk, recursive_sparse, oktopk", "oktopk"},
    {"elements", "gradients of a rank", "1048576"},
    {"density", "picked gradients over all", "0.01"},
    {"k", "picked gradients of a rank; 0: density * elements", "0"},
    {"skew-share", "PICKS:INDICES: this share of the picks lies in the first share of the indices; 1:1: even",
     "0.8:0.1"},
    {"no-balance", "oktopk: regions of equal width, and parts are gathered as they are", "off"},
    {"balance-above", "oktopk: parts are evened where the largest is this many times the mean; 1: whenever uneven",
     "4"},
    {"threshold-every", "oktopk: iterations from one exact threshold to the next (tau')", "32"},
    {"boundaries-every", "oktopk: iterations from one partition into regions to the next", "64"},
    {"bucket", "oktopk: peers of a rank whose messages are in flight together", "4"},
    {"select-us", "oktopk: computing before the messages: comparing the gradients with the threshold", "0"},
    {"estimate-us", "computing before the messages: finding the k-th largest gradient; oktopk: every threshold-every",
     "0"},
};

SkewShare read_skew_share(Parameters const& parameters) {
    std::string const& text = text_of(parameters, "skew-share");
    std::vector<std::string_view> const parts = split(text, ":");
    SkewShare share;
    bool sound = parts.size() == 2;
    for (std::size_t i = 0; sound && i < parts.size(); ++i) {
        auto const value = parse_whole<double>(parts[i]);
        sound = value && *value > 0 && *value <= 1;
        (i == 0 ? share.picks : share.indices) = value.value_or(1);
    }
    if (!sound || (share.indices == 1 && share.picks != 1)) {
        throw UsageError(fmt::format(
            "--skew-share '{}': expected PICKS:INDICES, two shares above 0 and up to 1, as in 0.8:0.1; 1:1: even",
            text));
    }
    return share;
}

/// Gradients that may be picked are drawn sparsely (gradients.hpp), which needs room around the picks.
void require_room(Params const& params) {
    constexpr double least_room = 4;
    auto const picks = static_cast<double>(params.k);
    auto const crowded = static_cast<double>(params.crowded);
    auto const rest = static_cast<double>(params.elements - params.crowded);
    double const most =
        std::min(crowded / params.skew.picks, params.skew.picks < 1 ? rest / (1 - params.skew.picks) : crowded);
    if (picks > 1 && picks * least_room > most) {
        throw UsageError(fmt::format("--k {}: too many for --elements {} and --skew-share {}:{}: at most a quarter of "
                                     "the gradients anywhere are picked, here {}",
                                     params.k, params.elements, params.skew.picks, params.skew.indices,
                                     std::floor(most / least_room)));
    }
}

}  // namespace

std::span<ParameterInfo const> parameter_infos() {
    return infos;
}

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    params.algorithm = read_enum<SparseAlgorithm>(parameters, "algorithm",
                                                  {"dense", "topk_allgather", "gtopk", "recursive_sparse", "oktopk"});
    params.elements = read_unsigned(parameters, "elements", 1, max_elements);
    double const density = read_real(parameters, "density", 1e-9, 1);
    std::uint64_t const given = read_unsigned(parameters, "k", 0, params.elements);
    params.k = given > 0 ? given : std::max<std::uint64_t>(1, share_of(density, params.elements));
    params.skew = read_skew_share(parameters);
    params.crowded = std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(std::llround(params.skew.indices * static_cast<double>(params.elements))), 1,
        params.elements);
    if (params.crowded == params.elements) {
        params.skew = {};
    }
    params.balanced = !read_switch(parameters, "no-balance");
    params.balance_above = read_real(parameters, "balance-above", 1, 1e9);
    params.threshold_every = static_cast<std::uint32_t>(read_unsigned(parameters, "threshold-every", 1, max_interval));
    params.boundaries_every =
        static_cast<std::uint32_t>(read_unsigned(parameters, "boundaries-every", 1, max_interval));
    params.bucket = read_unsigned(parameters, "bucket", 1, max_ranks);
    params.select_ns = read_microseconds(parameters, "select-us");
    params.estimate_ns = read_microseconds(parameters, "estimate-us");
    if (world.ranks > max_ranks) {
        throw UsageError(fmt::format("{} ranks: sums of gradients are exact for up to {}", world.ranks, max_ranks));
    }
    params.ranks = static_cast<std::size_t>(world.ranks);
    require_room(params);
    if (params.algorithm != SparseAlgorithm::dense && params.k * params.ranks > max_picks) {
        throw UsageError(fmt::format("--k {} on {} ranks: every rank works out the picks of all at set-up, and they "
                                     "are more than {}",
                                     params.k, params.ranks, max_picks));
    }
    return params;
}

}  // namespace dlmb::sparse_allreduce
