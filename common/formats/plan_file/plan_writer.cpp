// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan_file/line_fields.hpp"

#include <utility>

namespace dlmb {
namespace {

using json::Json;

constexpr std::size_t line_bytes = std::size_t{1} << 18;  // about; the steps of a rank go on in the next line

/// The operation with world ranks instead of those of its group.
Operation with_world_ranks(Plan const& plan, Operation operation) {
    std::visit(
        [&](auto& step) {
            if constexpr (requires { step.group; }) {
                each_peer(step, [&](Rank& peer, char const* /*field*/) { peer = world_rank(plan, step.group, peer); });
            }
        },
        operation);
    return operation;
}

}  // namespace

PlanWriter::PlanWriter(PlanHeader const& header, TextSink sink, RecordedStep recorded)
    : sink_(std::move(sink)), recorded_(std::move(recorded)) {
    Json line = Json::object();
    line["schema"] = plan_schema;
    LineWriter io(line);
    fields(io, header);
    sink_(record::compact(line) + "\n");
}

void PlanWriter::write(Plan const& plan) {
    std::vector<std::size_t> numbers;
    for (Group const& group : plan.groups) {
        auto const [place, is_new] = groups_.emplace(group.members, groups_.size());
        if (is_new) {
            sink_(record::compact(Json{{"group", place->second}, {"members", group.members}}) + "\n");
        }
        numbers.push_back(place->second);
    }
    Json first = Json::object();
    LineWriter io(first);
    io("rank", plan.me);
    io("groups", numbers);
    io.if_known("buffers", plan.buffers);
    first["step_count"] = plan.steps.size();
    std::string text = record::compact(first);
    text.back() = ',';
    text += R"("steps":[)";
    bool begins = true;
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        Step const& step = plan.steps[id];
        Json object = Json::object();
        object["id"] = id;
        object["operation"] = name_of(step.operation);
        LineWriter fields_of_step(object);
        step_fields(fields_of_step, step);
        std::visit(
            [&](auto const& operation) {
                if constexpr (requires { operation.group; }) {
                    object["group"] = numbers.at(operation.group);
                }
                fields(fields_of_step, operation);
            },
            with_world_ranks(plan, step.operation));
        if (auto const times = recorded_ ? recorded_(plan.me, id) : std::nullopt) {
            object["recorded_ns"] = {times->first, times->second};
        }
        text += std::exchange(begins, false) ? "" : ",";
        text += record::compact(object);
        if (text.size() > line_bytes && id + 1 < plan.steps.size()) {
            sink_(std::exchange(text, R"({"rank":)" + std::to_string(plan.me) + R"(,"steps":[)") + "]}\n");
            begins = true;
        }
    }
    sink_(text + "]}\n");
}

void write_plans(PlanHeader const& header, PlanSource const& plans, TextSink const& sink,
                 RecordedStep const& recorded) {
    PlanWriter writer(header, sink, recorded);
    plans.each([&](Plan const& plan) { writer.write(plan); });
}

std::string plan_lines(PlanHeader const& header, PlanSource const& plans, RecordedStep const& recorded) {
    std::string text;
    write_plans(
        header, plans, [&](std::string_view piece) { text += piece; }, recorded);
    return text;
}

}  // namespace dlmb
