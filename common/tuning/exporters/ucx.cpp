// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tuning/exporters/select_rules.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::tuning {
namespace {

/// A rule that says how messages of its sizes travel: eagerly below `threshold`, by rendezvous from it on.
struct ThresholdRule {
    Rule const* rule = nullptr;
    ByteInterval bytes;
    Bytes threshold = 0;  // no_limit: never by rendezvous
};

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

/// The threshold that does what all rules say, or nothing where there is none; then all are lost. A threshold has no
/// ends: sizes below eager ones go eagerly, sizes above others by rendezvous. Where no rule says so this is noted.
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

constexpr LibraryVersion thresholds_by_link{1, 17, 0};  // github.com/openucx/ucx, pull request 9507; NEWS of 1.17

std::optional<std::string> threshold_text(ChoiceParams params) {
    for (char const* knob : {"UCX_RNDV_THRESH", "RNDV_THRESH"}) {
        if (auto found = params.knobs.extract(knob)) {
            return params == ChoiceParams{} ? std::optional{found.mapped()} : std::nullopt;
        }
    }
    return std::nullopt;
}

bool is_of_one_node(Rule const& rule) {
    return rule.when.nodes == CountInterval{1, 1};
}

class Thresholds {
public:
    explicit Thresholds(Selection selection) : lost_(std::move(selection.lost)) {
        for (Carried const& one : selection.rules) {
            if (!one.keeps_default()) {
                add(one);
            }
        }
    }

    /// `between_nodes`: without the rules that hold on one node only.
    std::optional<std::string> value(bool between_nodes) {
        std::vector<ThresholdRule> rules;
        std::copy_if(rules_.begin(), rules_.end(), std::back_inserter(rules),
                     [&](ThresholdRule const& one) { return !between_nodes || !is_of_one_node(*one.rule); });
        std::sort(rules.begin(), rules.end(),
                  [](ThresholdRule const& one, ThresholdRule const& other) { return one.bytes < other.bytes; });
        auto const threshold = common_threshold(rules, lost_);
        if (!threshold) {
            return std::nullopt;
        }
        return *threshold == no_limit ? "inf" : fmt::format("{}", *threshold);
    }

    /// UCX sees messages between two ranks, whatever their number is: the rules of one number are exported.
    void keep_one_number_of_ranks() {
        std::erase_if(rules_, [&](ThresholdRule const& one) {
            bool const other = one.rule->when.ranks != rules_.front().rule->when.ranks;
            if (other) {
                lost_.push_back({one.rule->id, LostReason::other_slice, "was measured with another number of ranks"});
            }
            return other;
        });
    }

    std::vector<Lost>& lost() { return lost_; }

private:
    void add(Carried const& one) {
        Rule const& rule = *one.rule;
        if (rule.when.operation != TunedOperation::sendrecv) {
            lost_.push_back({rule.id, LostReason::operation_not_tunable, "UCX chooses for messages only"});
            return;
        }
        auto const text = threshold_text(rule.choose.params);
        auto const threshold = text ? read_threshold(*text) : std::nullopt;
        if (threshold) {
            rules_.push_back({&rule, one.bytes, *threshold});
        } else {
            lost_.push_back({rule.id, LostReason::key_not_expressible,
                             "only UCX_RNDV_THRESH, in bytes or inf, is a choice by size"});
        }
    }

    std::vector<ThresholdRule> rules_;
    std::vector<Lost> lost_;
};

}  // namespace

std::optional<Bytes> read_threshold(std::string const& text) {
    try {
        return text == "inf" ? no_limit : parse_bytes(text, "UCX_RNDV_THRESH");
    } catch (UsageError const&) {
        return std::nullopt;
    }
}

Export to_ucx(TuningTable const& table, Slice const& slice, std::string const& version) {
    Thresholds thresholds(select_rules(table, "ucx", slice, {}));
    thresholds.keep_one_number_of_ranks();
    std::optional<std::string> value;
    if (parse_version(version) >= thresholds_by_link) {
        auto const intra = thresholds.value(false);
        auto const inter = thresholds.value(true);
        if (intra || inter) {
            value = fmt::format("intra:{},inter:{}", intra.value_or("auto"), inter.value_or("auto"));
        }
    } else {
        value = thresholds.value(false);
    }
    std::string text = "# Made by dlmb_tune export. A variable of the same name in the environment beats this file.\n";
    if (value) {
        text += fmt::format("UCX_RNDV_THRESH={}\n", *value);
    }
    return {{{"ucx.conf", std::move(text)}},
            {{"UCX_CONFIG_DIR", std::string(folder_mark)}},
            in_order(std::move(thresholds.lost()), table),
            {"a ucx.conf in the working folder beats this one; unset UCX_RNDV_THRESH"}};
}

}  // namespace dlmb::tuning
