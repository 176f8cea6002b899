// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The fields of the lines of a plan file, but for those of operations.
#pragma once

#include "common/formats/plan_file/operation_fields.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/formats/record/json.hpp"

namespace dlmb {

/// The format of common/formats/json/fields.hpp. Readers pass over fields that they do not know.
struct PlanLine {
    static constexpr std::string_view document = "the line";
    template <class Struct>
    static constexpr bool strict = false;
};
using LineWriter = json::Fields<json::Json, PlanLine>;
using LineReader = json::Fields<json::Json const, PlanLine>;

using record::fields;  // of WorldShape

void fields(auto& io, json::Of<Draw> auto& draw) {
    io("seed", draw.seed);
    io("index", draw.index);
}
void fields(auto& io, json::Of<Buffer> auto& buffer) {
    io("name", buffer.name);
    io("bytes", buffer.bytes);
    io.if_known("shared", buffer.shared);
}
void fields(auto& io, json::Of<PlanHeader> auto& header) {
    io("pattern", header.pattern);
    io("preset", header.preset);
    io.as(
        "parameters", header.parameters, [](auto const& parameters) { return record::parameters_json(parameters); },
        [&](json::Json const& object, auto& parameters) {
            if (!object.is_object()) {
                json::refuse(json::Place("parameters"), "must be an object");
            }
            for (auto const& [name, value] : object.items()) {
                parameters[name] = record::parameter_text(value);
            }
        });
    io("world", header.world);
    io("draw", header.draw);
    io.as(
        "statistics", header.statistics, [](auto const& statistics) { return record::statistics_json(statistics); },
        [&](json::Json const& object, auto& statistics) {
            json::read_at<PlanLine>(object, statistics, json::Place("statistics"), false);
        });
}

/// Every step has these fields.
void step_fields(auto& io, json::Of<Step> auto& step) {
    io("label", step.label);
    io("after", step.after);
    if (step.microbatch >= 0 || !std::remove_reference_t<decltype(io)>::writes) {
        io.or_default("microbatch", step.microbatch);
    }
}

}  // namespace dlmb
