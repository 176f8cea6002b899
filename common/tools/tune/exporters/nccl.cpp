// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/lower_case.hpp"
#include "common/formats/table/nccl_tuner_control.hpp"
#include "common/tools/tune/exporters/select_rules.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

namespace dlmb::tuning {
namespace {

constexpr CountInterval any_number{1, no_limit};
constexpr std::uint64_t most_lines = 64;  // of one rule and key

template <std::size_t count>
bool is_one_of(std::array<std::string_view, count> const& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// A column that holds one number or any (-1): a range is a line for each number. Nothing: too many.
std::optional<std::vector<std::string>> column(CountInterval range) {
    if (range == any_number) {
        return std::vector<std::string>{"-1"};
    }
    if (range.max == no_limit || range.max - range.min >= most_lines) {
        return std::nullopt;
    }
    std::vector<std::string> values;
    for (std::uint64_t value = range.min; value <= range.max; ++value) {
        values.push_back(fmt::format("{}", value));
    }
    return values;
}

/// Whether the file can say the choice of a rule.
bool check_choice(ExportedRule const& one, std::vector<Lost>& lost) {
    auto const& algorithm = one.rule->choose.algorithm;
    ChoiceParams rest = one.rule->choose.params;
    if (!algorithm || algorithm->family != "nccl" || !is_one_of(nccl_tuner::algorithm_names, algorithm->name) ||
        !is_one_of(nccl_tuner::protocol_names, rest.protocol)) {
        lose(lost, one, LostReason::unknown_algorithm, "names no algorithm with a protocol of NCCL");
        return false;
    }
    rest.protocol.clear();
    rest.channels.reset();
    if (rest != ChoiceParams{}) {
        lose(lost, one, LostReason::key_not_expressible, "has parameters that the file has no column for");
        return false;
    }
    return true;
}

/// Empty: the rule is lost.
std::string lines_of(ExportedRule const& one, std::vector<Lost>& lost) {
    Rule const& rule = *one.rule;
    TunedOperation const operation = rule.when.operation;
    if (operation == TunedOperation::exchange || operation == TunedOperation::sendrecv) {
        lose(lost, one, LostReason::operation_not_tunable,
             fmt::format("NCCL asks no tuner for {}", name_of(operation)));
        return "";
    }
    if (!check_choice(one, lost)) {
        return "";
    }
    auto const all_ranks = column(one.ranks);
    auto const all_nodes = column(rule.when.nodes.value_or(any_number));
    if (!all_ranks || !all_nodes) {
        lose(lost, one, LostReason::range_limit,
             fmt::format("needs a line for each number of ranks and nodes, {} at most", most_lines));
        return "";
    }
    auto const& channels = rule.choose.params.channels;
    std::string const function = lower_case(facts_of(kind_of(operation)).nccl);
    std::string lines;
    for (std::string const& ranks : *all_ranks) {
        for (std::string const& nodes : *all_nodes) {
            if (ranks != "-1" && nodes != "-1" && std::stoull(nodes) > std::stoull(ranks)) {
                continue;
            }
            // The last column counts pipelined operations: any number.
            lines += fmt::format("{},{},{},{},{},{},{},{},-1\n", function, one.bytes.min, one.bytes.max,
                                 rule.choose.algorithm->name, rule.choose.params.protocol,
                                 channels ? fmt::format("{}", *channels) : "-1", nodes, ranks);
        }
    }
    return lines;
}

}  // namespace

Export to_nccl(TuningTable const& table, Slice const& slice, std::string const& plugin) {
    Selection selection = select_rules(table, "nccl", slice, nccl_keys);
    // Every line that starts otherwise is a rule: NVIDIA's plugin would read a header as one for allreduce.
    std::string text =
        "# collective,min bytes,max bytes,algorithm,protocol,channels,nodes,ranks,pipelined operations\n";
    bool some_without_channels = false;
    bool chooses = false;
    for (ExportedRule const& one : selection.rules) {
        if (!one.keeps_default()) {
            std::string const lines = lines_of(one, selection.lost);
            some_without_channels = some_without_channels || (!lines.empty() && !one.rule->choose.params.channels);
            chooses = chooses || !lines.empty();
            text += lines;
        }
    }
    std::vector<std::string> notes{
        "NCCL loads one tuner only: this one takes the place of another, such as that of aws-ofi-nccl"};
    if (some_without_channels) {
        notes.emplace_back("rules without channels leave their number to NCCL; NVIDIA's example plugin would take 1");
    }
    return {{{"dlmb_nccl.csv", std::move(text)}},
            {{"DLMB_NCCL_TABLE", std::string(folder_mark) + "/dlmb_nccl.csv"}, {"NCCL_TUNER_PLUGIN", plugin}},
            in_order(std::move(selection.lost), table),
            std::move(notes),
            chooses};
}

}  // namespace dlmb::tuning
