// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/table/table.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <tuple>

namespace dlmb::tuning {
namespace {

// In the order of the enumerations. Literals, as all names: the C interface hands out their ends.
constexpr std::array<std::string_view, every_tuned_operation.size()> basis_words{"buffer", "total",     "total",
                                                                                 "buffer", "rank_send", "message"};
constexpr std::array<std::string_view, every_rule_status.size()> status_words{"chosen", "tie", "no_gain", "undecided",
                                                                              "unconfirmed"};

auto order_of(Rule const& rule) {
    When const& when = rule.when;
    return std::tie(rule.scope, when.operation, when.ranks, when.nodes, when.memory, when.bytes, when.dtype,
                    when.reduction, when.in_place, when.uniform, when.imbalance, rule.id);
}

constexpr std::pair<std::string_view, std::optional<std::uint64_t> ChoiceParams::*> number_knobs[] = {
    {"segment", &ChoiceParams::segment_bytes}, {"tree_fanout", &ChoiceParams::fanout},
    {"chain_fanout", &ChoiceParams::fanout},   {"max_requests", &ChoiceParams::max_requests},
    {"radix", &ChoiceParams::radix},           {"max_outstanding", &ChoiceParams::max_outstanding},
    {"channels", &ChoiceParams::channels}};

bool same_value(std::string const& one, std::string const& other) {
    try {
        return one == other || parse_bytes(one, "") == parse_bytes(other, "");
    } catch (UsageError const&) {
        return false;  // "inf", "auto"
    }
}

}  // namespace

std::string_view name_of(TunedOperation operation) {
    return operation == TunedOperation::sendrecv ? "sendrecv" : name_of(kind_of(operation));
}

std::optional<TunedOperation> operation_named(std::string_view name) {
    auto const* const found =
        std::ranges::find(every_tuned_operation, name, [](TunedOperation operation) { return name_of(operation); });
    return found == every_tuned_operation.end() ? std::nullopt : std::optional(*found);
}

std::string_view basis_of(TunedOperation operation) {
    return basis_words.at(static_cast<std::size_t>(operation));
}

std::string_view name_of(RuleStatus status) {
    return status_words.at(static_cast<std::size_t>(status));
}

std::uint64_t whole_number(std::string_view text, std::string_view what) {
    auto const number = parse_whole<std::uint64_t>(text);
    if (!number) {
        throw UsageError(fmt::format("{} '{}' is no whole number", what, text));
    }
    return *number;
}

ChoiceParams params_of(std::map<std::string, std::string, std::less<>> const& method_knobs) {
    ChoiceParams params;
    for (auto const& [knob, value] : method_knobs) {
        auto const number = std::find_if(std::begin(number_knobs), std::end(number_knobs),
                                         [&name = knob](auto const& each) { return each.first == name; });
        if (number != std::end(number_knobs)) {
            params.*number->second = knob == "segment" ? parse_bytes(value, knob) : whole_number(value, knob);
        } else if (knob == "protocol") {
            params.protocol = value;
        } else if (knob == "rndv_thresh") {  // of common/backends/ucx
            params.knobs.emplace("UCX_RNDV_THRESH", value);
        } else if (knob == "zcopy_thresh") {
            params.knobs.emplace("UCX_ZCOPY_THRESH", value);
        }
    }
    return params;
}

std::string contradiction(ChoiceParams const& one, ChoiceParams const& other) {
    for (auto const& [name, number] : number_params) {
        if (one.*number && other.*number && one.*number != other.*number) {
            return name;
        }
    }
    if (!one.protocol.empty() && !other.protocol.empty() && one.protocol != other.protocol) {
        return "protocol";
    }
    for (auto const& [variable, value] : one.knobs) {
        auto const found = other.knobs.find(variable);
        if (found != other.knobs.end() && !same_value(found->second, value)) {
            return variable;
        }
    }
    return {};
}

std::string problem_of_gain(Evidence const& evidence) {
    constexpr double rounding = 1e-3;
    constexpr double allowance = 0.05;
    double const gain = evidence.gain;
    double const low = evidence.foreign ? gain : evidence.gain_low;
    double const high = evidence.foreign ? gain : evidence.gain_high;
    // Written so that what is not a number fails as well.
    if (!std::isfinite(gain) || !std::isfinite(low) || !std::isfinite(high) || !(low <= high)) {
        return "evidence.ci: must be [low, high] around a finite gain";
    }
    if (!(low - rounding <= gain && gain <= high + rounding)) {
        return fmt::format("evidence.gain: {} is outside of its interval, {} to {}", gain, low, high);
    }
    double const of_times = 1 - evidence.choice_ns / evidence.default_ns;
    if (!(gain - of_times <= allowance + (high - low))) {
        return fmt::format("evidence.gain: {} is more than the times say, {:.3g}", gain, of_times);
    }
    return {};
}

bool bears_out(Evidence const& evidence) {
    return evidence.choice_ns < evidence.default_ns && evidence.gain > 0 && problem_of_gain(evidence).empty();
}

bool Choice::keeps_default() const {
    return method == default_method && !algorithm && params == ChoiceParams{};
}

MpiLibrary mpi_library(std::string_view told) {
    std::size_t begin = 0;  // behind a blank or a "v": MVAPICH2 has a digit in its name
    while (begin < told.size() && (std::isdigit(static_cast<unsigned char>(told[begin])) == 0 || begin == 0 ||
                                   (told[begin - 1] != ' ' && told[begin - 1] != '\t' && told[begin - 1] != 'v'))) {
        ++begin;
    }
    std::size_t const end = std::min(told.find_first_not_of("0123456789.", begin), told.size());
    std::string_view name = told.substr(0, begin);
    for (std::string_view const known : {"Open MPI", "MPICH"}) {
        name = told.starts_with(known) ? known : name;
    }
    name = name.substr(0, name.find_last_not_of(" \t:") + 1);
    return {std::string(name), std::string(told.substr(begin, end - begin))};
}

std::string foreign_suite(TuningTable const& table) {
    for (Rule const& rule : table.rules) {
        if (rule.evidence && rule.evidence->foreign) {
            return rule.evidence->foreign->suite;
        }
    }
    return {};
}

std::string weak_evidence(TuningTable const& table) {
    bool const predicted = std::any_of(table.rules.begin(), table.rules.end(),
                                       [](Rule const& rule) { return rule.evidence && rule.evidence->predicted; });
    return !foreign_suite(table).empty() ? "foreign" : predicted ? "predicted" : "";
}

std::string weak_evidence_remark(TuningTable const& table) {
    if (weak_evidence(table) == "predicted") {
        return "is predicted by a machine model, and nothing of it was measured";
    }
    std::string const suite = foreign_suite(table);
    return suite.empty()
               ? ""
               : fmt::format("rests on foreign evidence ({}), which DLMB has neither measured nor confirmed", suite);
}

void sort_rules(std::vector<Rule>& rules) {
    std::sort(rules.begin(), rules.end(),
              [](Rule const& one, Rule const& other) { return order_of(one) < order_of(other); });
}

}  // namespace dlmb::tuning
