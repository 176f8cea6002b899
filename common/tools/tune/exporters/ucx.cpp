// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tools/tune/exporters/select_rules.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::tuning {
namespace {

/// A rule that says how messages of its sizes travel: eagerly below `threshold`, by rendezvous from it on.
struct ThresholdRule {
    ExportedRule one;
    Bytes threshold = 0;  // no_limit: never by rendezvous

    [[nodiscard]] std::optional<ByteInterval> eager() const {
        if (one.bytes.min >= threshold) {
            return std::nullopt;
        }
        return ByteInterval{one.bytes.min, std::min(one.bytes.max, threshold - 1)};
    }
    [[nodiscard]] std::optional<ByteInterval> rendezvous() const {
        if (one.bytes.max < threshold) {
            return std::nullopt;
        }
        return ByteInterval{std::max(one.bytes.min, threshold), one.bytes.max};
    }
};

/// Sizes between the ranges of rules, or beyond them, that the threshold changes as well.
void note_reach(std::vector<ThresholdRule> const& rules, Bytes threshold, std::vector<Lost>& lost) {
    Bytes next_eager = 0;  // all sizes below are covered
    Bytes next = threshold;
    ThresholdRule const* last = nullptr;
    bool endless = false;
    auto const note = [&](ThresholdRule const& rule, std::string const& detail) {
        auto const found = std::find_if(lost.begin(), lost.end(), [&](Lost const& one) {
            return one.rule == rule.one.rule->id && one.why == LostReason::size_ignored;
        });
        if (found == lost.end()) {
            lose(lost, rule.one, LostReason::size_ignored, detail);
        } else if (found->detail.find(detail) == found->detail.npos) {  // of the other kind of link
            found->detail += "; " + detail;
        }
    };
    for (ThresholdRule const& rule : rules) {
        if (auto const eager = rule.eager()) {
            if (eager->min > next_eager) {
                note(rule, fmt::format("messages of {} to {} bytes go eagerly, too", next_eager, eager->min - 1));
            }
            next_eager = eager->max + 1;
        }
        if (auto const rendezvous = rule.rendezvous(); rendezvous && !endless) {
            if (rendezvous->min > next) {
                note(rule, fmt::format("messages of {} to {} bytes go by rendezvous, too", next, rendezvous->min - 1));
            }
            last = &rule;
            endless = rendezvous->max == no_limit;
            next = rendezvous->max + 1;
        }
    }
    if (next_eager < threshold) {
        note(rules.front(), fmt::format("messages of {} to {} bytes go eagerly, too", next_eager, threshold - 1));
    }
    if (last != nullptr && !endless) {
        note(*last, fmt::format("messages from {} bytes on go by rendezvous, too", next));
    }
}

/// The threshold that does what all rules say, or nothing where there is none; then all are lost. A threshold has no
/// ends: sizes below eager ones go eagerly, sizes above others by rendezvous. Where no rule says so this is noted.
std::optional<Bytes> common_threshold(std::vector<ThresholdRule> const& rules, std::vector<Lost>& lost) {
    std::optional<Bytes> from_eager;
    std::optional<Bytes> from_rendezvous;
    for (ThresholdRule const& rule : rules) {
        if (auto const eager = rule.eager()) {
            from_eager = std::max(from_eager.value_or(0), eager->max + 1);  // max is below a threshold, so this fits
        }
        if (auto const rendezvous = rule.rendezvous()) {
            from_rendezvous = std::min(from_rendezvous.value_or(no_limit), rendezvous->min);
        }
    }
    if (from_eager && from_rendezvous && *from_eager > *from_rendezvous) {
        for (ThresholdRule const& rule : rules) {
            lose(lost, rule.one, LostReason::size_ignored,
                 "one threshold cannot send larger messages eagerly and smaller ones by rendezvous");
        }
        return std::nullopt;
    }
    auto const threshold = from_eager ? from_eager : from_rendezvous;
    if (threshold) {
        note_reach(rules, *threshold, lost);
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

/// By bytes. UCX sees messages between two ranks, whatever their number is: the rules of one number are exported.
std::vector<ThresholdRule> threshold_rules(Selection& selection) {
    std::vector<ThresholdRule> rules;
    for (ExportedRule const& one : selection.rules) {
        if (one.keeps_default()) {
            continue;
        }
        auto const text = threshold_text(one.rule->choose.params);
        auto const threshold = text ? read_threshold(*text) : std::nullopt;
        if (one.rule->when.operation != TunedOperation::sendrecv) {
            lose(selection.lost, one, LostReason::operation_not_tunable, "UCX chooses for messages only");
        } else if (!threshold) {
            lose(selection.lost, one, LostReason::key_not_expressible,
                 "only UCX_RNDV_THRESH, in bytes or inf, is a choice by size");
        } else if (!rules.empty() && one.rule->when.ranks != rules.front().one.rule->when.ranks) {
            lose(selection.lost, one, LostReason::other_slice, "was measured with another number of ranks");
        } else {
            rules.push_back({one, *threshold});
        }
    }
    std::sort(rules.begin(), rules.end(),
              [](ThresholdRule const& one, ThresholdRule const& other) { return one.one.bytes < other.one.bytes; });
    return rules;
}

std::optional<std::string> threshold_value(std::vector<ThresholdRule> const& rules, std::vector<Lost>& lost) {
    auto const threshold = common_threshold(rules, lost);
    if (!threshold) {
        return std::nullopt;
    }
    return *threshold == no_limit ? "inf" : fmt::format("{}", *threshold);
}

/// Whether all messages of the rule are inside of nodes.
bool is_inside_nodes(ThresholdRule const& rule) {
    return rule.one.rule->when.nodes == CountInterval{1, 1};
}

/// Whether all messages of the rule are between nodes, for each has one rank.
bool is_between_nodes(ThresholdRule const& rule) {
    When const& when = rule.one.rule->when;
    return when.nodes && when.ranks && when.nodes->min > 1 && when.nodes->min == when.ranks->max;
}

/// Rules whose messages take both kinds of links say what a link does only where no rule is of that link alone.
std::optional<std::string> values_by_link(std::vector<ThresholdRule> const& rules, std::vector<Lost>& lost) {
    std::vector<ThresholdRule> inside;
    std::vector<ThresholdRule> between;
    std::vector<ThresholdRule> both;
    for (ThresholdRule const& rule : rules) {
        (is_inside_nodes(rule) ? inside : is_between_nodes(rule) ? between : both).push_back(rule);
    }
    if (!inside.empty() && !between.empty()) {
        for (ThresholdRule const& rule : both) {
            lose(lost, rule.one, LostReason::other_slice,
                 "was measured inside of nodes and between them at once, and others are of one kind of link");
        }
    }
    auto const intra = threshold_value(inside.empty() ? both : inside, lost);
    auto const inter = threshold_value(between.empty() ? both : between, lost);
    if (!intra && !inter) {
        return std::nullopt;
    }
    return fmt::format("intra:{},inter:{}", intra.value_or("auto"), inter.value_or("auto"));
}

}  // namespace

std::optional<Bytes> read_threshold(std::string const& text) {
    try {
        return text == "inf" ? no_limit : parse_bytes(text, "UCX_RNDV_THRESH");
    } catch (UsageError const&) {
        return std::nullopt;
    }
}

DistinguishedKeys keys_of_ucx(std::string const& version) {
    return {.nodes = parse_version(version) >= thresholds_by_link};
}

Export to_ucx(TuningTable const& table, Slice const& slice, std::string const& version) {
    Selection selection = select_rules(table, "ucx", slice, keys_of_ucx(version));
    std::vector<ThresholdRule> const rules = threshold_rules(selection);
    std::optional<std::string> value =
        keys_of_ucx(version).nodes ? values_by_link(rules, selection.lost) : threshold_value(rules, selection.lost);
    std::string text = "# Made by dlmb_tune export. A variable of the same name in the environment beats this file.\n";
    if (value) {
        text += fmt::format("UCX_RNDV_THRESH={}\n", *value);
    }
    return {{{"ucx.conf", std::move(text)}},
            {{"UCX_CONFIG_DIR", std::string(folder_mark)}},
            in_order(std::move(selection.lost), table),
            {"a ucx.conf in the working folder beats this one; unset UCX_RNDV_THRESH"},
            value.has_value()};
}

}  // namespace dlmb::tuning
