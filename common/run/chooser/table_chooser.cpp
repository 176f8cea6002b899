// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/chooser/table_chooser.hpp"

#include "common/base/error.hpp"
#include "common/formats/table/provenance.hpp"
#include "common/formats/table/table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace dlmb::tuning {
namespace {

/// The part of a choice that no --method can say; empty: all of it is in the method.
std::string beyond_method(Choice const& choice, MethodChoice const& method) {
    if (choice.algorithm && method.name != algorithm_method) {
        return fmt::format("it names algorithm '{}' beside method '{}'; a method that takes it is written {}:CALL={}",
                           choice.algorithm->name, choice.method, algorithm_method, choice.algorithm->name);
    }
    if (choice.algorithm && std::none_of(method.knobs.begin(), method.knobs.end(),
                                         [&](auto const& knob) { return knob.second == choice.algorithm->name; })) {
        return fmt::format("method '{}' contradicts its algorithm {}", choice.method, choice.algorithm->name);
    }
    ChoiceParams const said = params_of(method.knobs);
    if (std::string const name = contradiction(said, choice.params); !name.empty()) {
        return fmt::format("method '{}' contradicts its {}", choice.method, name);
    }
    ChoiceParams params = choice.params;
    std::erase_if(params.knobs, [&](auto const& knob) { return said.knobs.contains(knob.first); });
    if (!params.knobs.empty()) {
        return fmt::format("it sets {}, which a library that runs already does not read", params.knobs.begin()->first);
    }
    bool const forces = method.name == algorithm_method && method.knobs.contains("protocol") &&
                        method.knobs.contains("channels") == params.channels.has_value();
    if (!forces && (!params.protocol.empty() || params.channels)) {
        return "it sets protocol or channels, which only a tuner plugin can (dlmb_tune export --to nccl)";
    }
    return "";
}

std::string rules_text(Match const& match) {
    if (match.select != nullptr && match.method != nullptr) {
        return match.select->id + "+" + match.method->id;
    }
    return match.deciding()->id;
}

}  // namespace

TableChooser::TableChooser(TuningTable table) : table_(std::move(table)), index_(table_), digest_(digest_of(table_)) {
    for (Rule const& rule : table_.rules) {
        try {
            (void)parse_method(rule.choose.method);
        } catch (UsageError const& error) {
            throw UsageError(fmt::format("tuning table, rule {}: {}", rule.id, error.what()));
        }
    }
}

std::vector<std::string> TableChooser::backends() const {
    std::set<std::string> names;
    for (Rule const& rule : table_.rules) {
        if (rule.scope == select_scope) {
            names.insert(rule.choose.backend);
        }
    }
    for (auto const& [memory, backend] : table_.policy.baseline) {
        names.insert(backend);
    }
    return {names.begin(), names.end()};
}

std::vector<MethodChoice> TableChooser::methods_of(std::string_view backend) const {
    std::vector<MethodChoice> methods;
    for (Rule const& rule : table_.rules) {
        MethodChoice method = parse_method(rule.choose.method);
        if (rule.choose.backend == backend && std::find(methods.begin(), methods.end(), method) == methods.end()) {
            methods.push_back(std::move(method));
        }
    }
    return methods;
}

namespace {

StepChoice choice_of(Match const& match) {
    Choice const& choice = match.deciding()->choose;
    MethodChoice const method = parse_method(choice.method);
    return {choice.backend, method, rules_text(match), beyond_method(choice, method)};
}

}  // namespace

StepChoice TableChooser::choose(Key const& step) const {
    if (Match const match = index_.find(step, "")) {
        return choice_of(match);
    }
    StepChoice const standard = baseline(step.memory);
    return standard.why_not.empty() ? choose_within(standard.backend, step) : standard;
}

StepChoice TableChooser::choose_within(std::string_view backend, Key const& step) const {
    Match const match = index_.find(step, backend);
    return match ? choice_of(match) : StepChoice{std::string(backend), {}, "", ""};
}

StepChoice TableChooser::baseline(std::string_view memory) const {
    auto const found = table_.policy.baseline.find(std::string(memory));
    if (found == table_.policy.baseline.end()) {
        return {"none", {}, "", fmt::format("the table's policy.baseline names no backend for {} memory", memory)};
    }
    return {found->second, {}, "", ""};
}

}  // namespace dlmb::tuning
