// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/to_json.hpp"
#include "common/tuning/write_table.hpp"

namespace dlmb::tuning {
namespace {

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

template <class Word>
std::string_view word_of(std::optional<Word> word) {
    return word ? name_of(*word) : std::string_view{};
}

Json when_json(When const& when) {
    Json object{{"operation", name_of(when.operation)}};
    if (when.bytes) {
        Json const max = when.bytes->max == no_limit ? Json(nullptr) : Json(when.bytes->max);
        object["bytes"] = {{"basis", name_of(basis_of(when.operation))}, {"min", when.bytes->min}, {"max", max}};
    }
    put(object, "ranks", when.ranks);
    put(object, "nodes", when.nodes);
    put(object, "ppn", when.ranks_per_node);
    put(object, "distribution", word_of(when.distribution));
    put(object, "dtype", when.dtype);
    put(object, "reduction", when.reduction);
    put(object, "memory", when.memory);
    put(object, "commutative", when.commutative);
    put(object, "registered", when.registered);
    put(object, "in_place", when.in_place);
    put(object, "uniform", when.uniform);
    put(object, "imbalance", when.imbalance);
    if (when.group_ops || when.group_pipe_ops) {
        Json& group = object["group"] = Json::object();
        put(group, "ops", when.group_ops);
        put(group, "pipe_ops", when.group_pipe_ops);
    }
    put(object, "link", word_of(when.link));
    put(object, "overlap", when.overlap);
    return object;
}

Json params_json(ChoiceParams const& params) {
    Json object = Json::object();
    put(object, "protocol", params.protocol);
    put(object, "channels", params.channels);
    put(object, "chunk_bytes", params.chunk_bytes);
    put(object, "segment_bytes", params.segment_bytes);
    put(object, "fanout", params.fanout);
    put(object, "max_requests", params.max_requests);
    put(object, "radix", params.radix);
    put(object, "max_outstanding", params.max_outstanding);
    if (!params.knobs.empty()) {
        object["knobs"] = params.knobs;
    }
    put(object, "score", params.score);
    return object;
}

Json choice_json(Choice const& choice) {
    Json object{{"backend", choice.backend}, {"method", choice.method}};
    if (choice.algorithm) {
        Json& algorithm =
            object["algorithm"] = {{"family", choice.algorithm->family}, {"name", choice.algorithm->name}};
        put(algorithm, "id", choice.algorithm->id);
        if (!choice.algorithm->min_version.empty() || !choice.algorithm->max_version.empty()) {
            Json& versions = algorithm["versions"] = Json::object();
            put(versions, "min", choice.algorithm->min_version);
            put(versions, "max", choice.algorithm->max_version);
        }
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

}  // namespace

std::string to_json(ChoiceParams const& params) {
    return params_json(params).dump();
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

}  // namespace dlmb::tuning
