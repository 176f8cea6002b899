// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan_file/line_fields.hpp"

#include <fmt/core.h>

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

/// The JSON of a step. `group_of` makes that of its group.
template <class GroupOf>
Json step_object(Plan const& plan, StepId id, GroupOf const& group_of) {
    Step const& step = plan.steps[id];
    Json object = Json::object();
    object["id"] = id;
    object["operation"] = name_of(step.operation);
    LineWriter io(object);
    step_fields(io, step);
    std::visit(
        [&](auto const& operation) {
            if constexpr (requires { operation.group; }) {
                object["group"] = group_of(operation.group);
            }
            fields(io, operation);
        },
        with_world_ranks(plan, step.operation));
    return object;
}

Json header_object(PlanHeader const& header, char const* schema) {
    Json object = Json::object();
    object["schema"] = schema;
    LineWriter io(object);
    fields(io, header);
    return object;
}

/// The message of a send or a receive as a list of blocks, as exchanges have them, one for each message of a window.
void list_messages(Json& step, char const* field, char const* list) {
    if (auto const message = step.find(field); message != step.end()) {
        Json const block = *message;
        std::size_t const messages = step.contains("window") ? step["window"]["messages"].get<std::size_t>() : 1;
        step.erase(message);
        step[list] = std::vector<Json>(messages, block);
    }
}

}  // namespace

PlanWriter::PlanWriter(PlanHeader const& header, TextSink sink, RecordedStep recorded)
    : sink_(std::move(sink)), recorded_(std::move(recorded)) {
    sink_(record::compact(header_object(header, plan_schema)) + "\n");
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
        Json object = step_object(plan, id, [&](GroupId group) { return Json(numbers.at(group)); });
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

void write_plan_object(PlanHeader const& header, PlanSource const& plans, TextSink const& sink) {
    std::string front = record::compact(header_object(header, plan_object_schema));
    front.back() = ',';
    sink(front + R"("plans":[)");
    char const* before = "\n";
    plans.each([&](Plan const& plan) {
        std::string text = fmt::format(R"({}{{"rank":{},"steps":[)", std::exchange(before, ",\n"), plan.me);
        for (StepId id = 0; id < plan.steps.size(); ++id) {
            Json step = step_object(plan, id, [&](GroupId group) { return Json(plan.groups[group].members); });
            list_messages(step, "to", "send");
            list_messages(step, "from", "recv");
            text += (id == 0 ? "" : ",") + record::compact(step);
        }
        sink(text + "]}");
    });
    sink("\n]}\n");
}

std::string plan_lines(PlanHeader const& header, PlanSource const& plans, RecordedStep const& recorded) {
    std::string text;
    write_plans(
        header, plans, [&](std::string_view piece) { text += piece; }, recorded);
    return text;
}

}  // namespace dlmb
