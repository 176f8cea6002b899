// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/from_json.hpp"

#include <fmt/core.h>

namespace dlmb::tuning {
namespace {

std::optional<CountInterval> counts_if(JsonObject& object, char const* name) {
    auto inner = object.object_if(name);
    if (!inner) {
        return std::nullopt;
    }
    CountInterval const interval{inner->whole("min"), inner->whole("max")};
    inner->close();
    return interval;
}

std::optional<RatioInterval> ratios_if(JsonObject& object, char const* name) {
    auto inner = object.object_if(name);
    if (!inner) {
        return std::nullopt;
    }
    RatioInterval const interval{inner->number("min"), inner->number("max")};
    inner->close();
    return interval;
}

std::optional<ByteInterval> bytes_if(JsonObject& when, TunedOperation operation) {
    auto inner = when.object_if("bytes");
    if (!inner) {
        return std::nullopt;
    }
    std::string const basis = inner->text("basis");
    if (basis != name_of(basis_of(operation))) {
        inner->refuse("basis", fmt::format("'{}' is not the basis of {}; give its sizes as '{}'", basis,
                                           name_of(operation), name_of(basis_of(operation))));
    }
    ByteInterval const interval{inner->whole("min"), inner->whole_if("max").value_or(no_limit)};
    inner->close();
    return interval;
}

When when_from(JsonObject object) {
    When when;
    when.operation = word(object, "operation", operation_named);
    when.bytes = bytes_if(object, when.operation);
    when.ranks = counts_if(object, "ranks");
    when.nodes = counts_if(object, "nodes");
    when.ranks_per_node = counts_if(object, "ppn");
    when.distribution = word_if(object, "distribution", distribution_named);
    when.dtype = object.text_or_empty("dtype");
    when.reduction = object.text_or_empty("reduction");
    when.memory = object.text_or_empty("memory");
    when.commutative = object.yes_no_if("commutative");
    when.registered = object.yes_no_if("registered");
    when.in_place = object.yes_no_if("in_place");
    when.uniform = object.yes_no_if("uniform");
    when.imbalance = ratios_if(object, "imbalance");
    if (auto group = object.object_if("group")) {
        when.group_ops = counts_if(*group, "ops");
        when.group_pipe_ops = counts_if(*group, "pipe_ops");
        group->close();
    }
    when.link = word_if(object, "link", link_named);
    when.overlap = object.yes_no_if("overlap");
    object.close();
    return when;
}

std::optional<Algorithm> algorithm_if(JsonObject& choose) {
    auto object = choose.object_if("algorithm");
    if (!object) {
        return std::nullopt;
    }
    Algorithm algorithm{object->text("family"), object->text("name"), object->id_if("id"), {}, {}};
    if (auto versions = object->object_if("versions")) {
        algorithm.min_version = versions->text_or_empty("min");
        algorithm.max_version = versions->text_or_empty("max");
        versions->close();
    }
    object->close();
    return algorithm;
}

ChoiceParams params_from(JsonObject& choose) {
    ChoiceParams params;
    auto object = choose.object_if("params");
    if (!object) {
        return params;
    }
    params.protocol = object->text_or_empty("protocol");
    params.channels = object->whole_if("channels");
    params.chunk_bytes = object->whole_if("chunk_bytes");
    params.segment_bytes = object->whole_if("segment_bytes");
    params.fanout = object->whole_if("fanout");
    params.max_requests = object->whole_if("max_requests");
    params.radix = object->whole_if("radix");
    params.max_outstanding = object->whole_if("max_outstanding");
    params.knobs = object->text_map("knobs");
    params.score = object->whole_if("score");
    object->close();
    return params;
}

Choice choice_from(JsonObject object) {
    Choice choice{object.text("backend"), object.text("method"), algorithm_if(object), params_from(object)};
    object.close();
    return choice;
}

Evidence evidence_from(JsonObject object) {
    Evidence evidence;
    evidence.sizes = object.wholes("sizes");
    evidence.samples = object.whole("samples");
    evidence.launches = object.whole("launches");
    evidence.confirmed = object.whole("confirmed");
    JsonObject times = object.object("median_ns");
    evidence.choice_ns = times.number("choice");
    evidence.runner_up_ns = times.number_if("runner_up");
    evidence.default_ns = times.number("default");
    times.close();
    evidence.gain = object.number("gain");
    std::vector<double> const interval = object.numbers("ci");
    if (interval.size() != 2) {
        object.refuse("ci", "must be [low, high]");
    }
    evidence.gain_low = interval[0];
    evidence.gain_high = interval[1];
    object.close();
    return evidence;
}

}  // namespace

Rule rule_from(JsonObject object) {
    Rule rule;
    rule.id = object.text("id");
    rule.scope = object.text("scope");
    rule.pattern = object.text_or_empty("pattern");
    rule.when = when_from(object.object("when"));
    rule.choose = choice_from(object.object("choose"));
    rule.status = word(object, "status", status_named);
    if (auto evidence = object.object_if("evidence")) {
        rule.evidence = evidence_from(*evidence);
    }
    object.close();
    return rule;
}

}  // namespace dlmb::tuning
