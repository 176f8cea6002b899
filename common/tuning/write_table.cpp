// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/write_table.hpp"

#include "common/base/error.hpp"
#include "common/tuning/validate.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace dlmb::tuning {
namespace {

using Json = nlohmann::ordered_json;

// Absent values are left out.
template <class Value>
void put(Json& object, char const* name, std::optional<Value> const& value) {
    if (value) {
        object[name] = *value;
    }
}

template <class Number>
void put(Json& object, char const* name, std::optional<Interval<Number>> const& interval) {
    if (interval) {
        object[name] = {{"min", interval->min}, {"max", interval->max}};
    }
}

void put(Json& object, char const* name, std::string_view text) {
    if (!text.empty()) {
        object[name] = text;
    }
}

Json when_json(When const& when) {
    Json object{{"operation", name_of(when.operation)}};
    if (when.bytes) {
        Json const max = when.bytes->max == no_limit ? Json(nullptr) : Json(when.bytes->max);
        object["bytes"] = {{"basis", name_of(basis_of(when.operation))}, {"min", when.bytes->min}, {"max", max}};
    }
    put(object, "ranks", when.ranks);
    put(object, "nodes", when.nodes);
    put(object, "dtype", when.dtype);
    put(object, "reduction", when.reduction);
    put(object, "memory", when.memory);
    put(object, "in_place", when.in_place);
    put(object, "uniform", when.uniform);
    put(object, "imbalance", when.imbalance);
    return object;
}

Json params_json(ChoiceParams const& params) {
    Json object = Json::object();
    put(object, "protocol", params.protocol);
    put(object, "channels", params.channels);
    put(object, "segment_bytes", params.segment_bytes);
    put(object, "fanout", params.fanout);
    put(object, "max_requests", params.max_requests);
    put(object, "radix", params.radix);
    put(object, "max_outstanding", params.max_outstanding);
    if (!params.knobs.empty()) {
        object["knobs"] = params.knobs;
    }
    return object;
}

Json choice_json(Choice const& choice) {
    Json object{{"backend", choice.backend}, {"method", choice.method}};
    if (choice.algorithm) {
        Json& algorithm =
            object["algorithm"] = {{"family", choice.algorithm->family}, {"name", choice.algorithm->name}};
        put(algorithm, "id", choice.algorithm->id);
    }
    if (choice.params != ChoiceParams{}) {
        object["params"] = params_json(choice.params);
    }
    return object;
}

Json evidence_json(Evidence const& evidence) {
    Json times{{"choice", evidence.choice_ns}};
    put(times, "runner_up", evidence.runner_up_ns);
    times["default"] = evidence.default_ns;
    return {{"sizes", evidence.sizes},
            {"samples", evidence.samples},
            {"launches", evidence.launches},
            {"confirmed", evidence.confirmed},
            {"median_ns", std::move(times)},
            {"gain", evidence.gain},
            {"ci", Json::array({evidence.gain_low, evidence.gain_high})}};
}

Json rule_json(Rule const& rule) {
    Json object{{"id", rule.id}, {"scope", rule.scope}};
    put(object, "pattern", rule.pattern);
    object["when"] = when_json(rule.when);
    object["choose"] = choice_json(rule.choose);
    object["status"] = name_of(rule.status);
    if (rule.evidence) {
        object["evidence"] = evidence_json(*rule.evidence);
    }
    return object;
}

Json inputs_json(std::vector<Input> const& inputs) {
    Json list = Json::array();
    for (Input const& input : inputs) {
        list.push_back({{"file", input.file}, {"sha256", input.sha256}, {"launches", input.launches}});
    }
    return list;
}

Json system_json(System const& system) {
    Json object{{"key", system.key}, {"cpu", system.cpu}};
    put(object, "gpu", system.gpu);
    return object;
}

Json stack_json(Stack const& stack) {
    Json object = Json::object();
    if (stack.mpi) {
        object["mpi"] = {{"name", stack.mpi->name}, {"version", stack.mpi->version}};
    }
    object["versions"] = stack.versions;
    object["environment"] = stack.environment;
    return object;
}

Json policy_json(Policy const& policy) {
    Json object{{"metric", policy.metric},
                {"min_gain", {{"small", policy.min_gain_small}, {"large", policy.min_gain_large}}},
                {"fdr_q", policy.fdr_q},
                {"launches", policy.launches},
                {"confirm_launches", policy.confirm_launches},
                {"cut", policy.cut},
                {"hysteresis", policy.hysteresis},
                {"baseline", policy.baseline}};
    put(object, "cache", policy.cache);
    return object;
}

/// Everything but `rules`.
Json about_json(TuningTable const& table) {
    return {{"schema", table_schema},
            {"created", table.created},
            {"tool", {{"name", table.tool.name}, {"version", table.tool.version}, {"commit", table.tool.commit}}},
            {"inputs", inputs_json(table.inputs)},
            {"system", system_json(table.system)},
            {"stack", stack_json(table.stack)},
            {"policy", policy_json(table.policy)}};
}

}  // namespace

std::string to_json(ChoiceParams const& params) {
    return params_json(params).dump();
}

std::string to_json(TuningTable const& table) {
    std::vector<Problem> const problems = validate(table);
    if (!problems.empty()) {
        throw UsageError(fmt::format("tuning table: {}: {}", problems.front().path, problems.front().what));
    }
    TuningTable sorted = table;
    sort_rules(sorted);
    std::string text = about_json(sorted).dump(2);
    constexpr std::string_view closing = "\n}";
    text.resize(text.size() - closing.size());
    text += ",\n  \"rules\": [";
    for (Rule const& rule : sorted.rules) {
        text += fmt::format("{}\n    {}", &rule == sorted.rules.data() ? "" : ",", rule_json(rule).dump());
    }
    return text + "\n  ]\n}\n";
}

void write_table(std::filesystem::path const& path, TuningTable const& table) {
    std::string const text = to_json(table);
    std::filesystem::path part = path;
    part += ".part";
    std::ofstream file(part, std::ios::binary);
    file << text;
    file.close();
    std::error_code error;
    if (file) {
        std::filesystem::rename(part, path, error);
    }
    if (!file || error) {
        throw OutputError(fmt::format("{}: cannot be written{}{}; is its folder there, and is there space?",
                                      path.string(), error ? ": " : "", error ? error.message() : ""));
    }
}

}  // namespace dlmb::tuning
