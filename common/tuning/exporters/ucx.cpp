// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/ucx.hpp"

#include "common/tuning/exporters/carried.hpp"
#include "common/tuning/exporters/open_mpi_algorithms.hpp"
#include "common/tuning/exporters/rendezvous.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::tuning {
namespace {

constexpr LibraryVersion separate_links{1, 17, 0};  // github.com/openucx/ucx, pull request 9507; NEWS of 1.17

std::optional<std::string> threshold_text(ChoiceParams params) {
    for (char const* knob : {"UCX_RNDV_THRESH", "RNDV_THRESH"}) {
        if (auto found = params.knobs.extract(knob)) {
            return params == ChoiceParams{} ? std::optional{found.mapped()} : std::nullopt;
        }
    }
    return std::nullopt;
}

/// What the messages of a rule travel over; nothing: either.
std::optional<Link> link_of(Rule const& rule) {
    bool const one_node = rule.when.nodes == CountInterval{1, 1} || rule.when.distribution == Distribution::single_node;
    return rule.when.link || !one_node ? rule.when.link : Link::intra;
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

    /// For a link, or for both where the version or the slice knows one only.
    std::optional<std::string> value(std::optional<Link> link) {
        std::vector<ThresholdRule> rules;
        for (ThresholdRule const& one : rules_) {
            auto const own = link_of(*one.rule);
            if (!link || !own || own == link) {
                rules.push_back(one);
            }
        }
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

    void drop_link(std::optional<Link> link) {
        std::erase_if(rules_, [&](ThresholdRule const& one) {
            bool const dropped = one.rule->when.link && one.rule->when.link != link;
            if (dropped) {
                lost_.push_back(
                    {one.rule->id, LostReason::key_not_expressible, "UCX before 1.17 has one threshold for all links"});
            }
            return dropped;
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

Export to_ucx(TuningTable const& table, Slice const& slice, UcxInfo const& info) {
    Thresholds thresholds(select_rules(table, "ucx", slice, {}));
    thresholds.keep_one_number_of_ranks();
    std::optional<std::string> value;
    if (parse_version(info.version) >= separate_links) {
        auto const intra = thresholds.value(Link::intra);
        auto const inter = thresholds.value(Link::inter);
        if (intra || inter) {
            value = fmt::format("intra:{},inter:{}", intra.value_or("auto"), inter.value_or("auto"));
        }
    } else {
        thresholds.drop_link(slice.nodes == 1 ? std::optional{Link::intra} : std::nullopt);
        value = thresholds.value(std::nullopt);
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
