// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/rendezvous.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::tuning {
namespace {

/// What a rule demands of a threshold.
struct Demand {
    Rule const* rule;
    std::optional<ByteInterval> eager;
    std::optional<ByteInterval> rendezvous;
};

Demand demand_of(ThresholdRule const& one) {
    Demand demand{one.rule, {}, {}};
    if (one.bytes.min < one.threshold) {
        demand.eager = {one.bytes.min, std::min(one.bytes.max, one.threshold - 1)};
    }
    if (one.bytes.max >= one.threshold) {
        demand.rendezvous = {std::max(one.bytes.min, one.threshold), one.bytes.max};
    }
    return demand;
}

/// Sizes between the ranges of rules, or beyond them, that the threshold changes as well.
void note_reach(std::vector<Demand> const& demands, Bytes threshold, std::vector<Lost>& lost) {
    Bytes next_eager = 0;  // all sizes below are covered
    for (Demand const& demand : demands) {
        if (demand.eager && demand.eager->min > next_eager) {
            lost.push_back(
                {demand.rule->id, LostReason::size_ignored,
                 fmt::format("messages of {} to {} bytes go eagerly, too", next_eager, demand.eager->min - 1)});
        }
        if (demand.eager) {
            next_eager = demand.eager->max + 1;
        }
    }
    Bytes next = threshold;
    Rule const* last = nullptr;
    for (Demand const& demand : demands) {
        if (!demand.rendezvous) {
            continue;
        }
        if (demand.rendezvous->min > next) {
            lost.push_back(
                {demand.rule->id, LostReason::size_ignored,
                 fmt::format("messages of {} to {} bytes go by rendezvous, too", next, demand.rendezvous->min - 1)});
        }
        last = demand.rule;
        if (demand.rendezvous->max == no_limit) {
            return;
        }
        next = demand.rendezvous->max + 1;
    }
    if (last != nullptr) {
        lost.push_back(
            {last->id, LostReason::size_ignored, fmt::format("messages from {} bytes on go by rendezvous, too", next)});
    }
}

}  // namespace

std::optional<Bytes> read_threshold(std::string const& text) {
    try {
        return text == "inf" ? no_limit : parse_bytes(text, "UCX_RNDV_THRESH");
    } catch (UsageError const&) {
        return std::nullopt;
    }
}

std::optional<Bytes> common_threshold(std::vector<ThresholdRule> const& rules, std::vector<Lost>& lost) {
    std::vector<Demand> demands;
    std::transform(rules.begin(), rules.end(), std::back_inserter(demands), demand_of);
    std::optional<Bytes> from_eager;
    std::optional<Bytes> from_rendezvous;
    for (Demand const& demand : demands) {
        if (demand.eager) {
            Bytes const end = demand.eager->max + 1;  // max is below a threshold, so this fits
            from_eager = std::max(from_eager.value_or(0), end);
        }
        if (demand.rendezvous) {
            from_rendezvous = std::min(from_rendezvous.value_or(no_limit), demand.rendezvous->min);
        }
    }
    if (from_eager && from_rendezvous && *from_eager > *from_rendezvous) {
        for (Demand const& demand : demands) {
            lost.push_back({demand.rule->id, LostReason::size_ignored,
                            "one threshold cannot send larger messages eagerly and smaller ones by rendezvous"});
        }
        return std::nullopt;
    }
    auto const threshold = from_eager ? from_eager : from_rendezvous;
    if (threshold) {
        note_reach(demands, *threshold, lost);
    }
    return threshold;
}

}  // namespace dlmb::tuning
