// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan_file/plan_document.hpp"

#include "common/formats/record/json.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace dlmb::record {
namespace {

// Text by hand: a tree of JSON values for 512 x 256 x 2 blocks would cost gigabytes.

template <class Range, class Item>
void add_list(std::string& text, Range const& range, Item item) {
    char separator = '[';
    for (auto const& each : range) {
        text.push_back(separator);
        separator = ',';
        item(each);
    }
    text += separator == '[' ? "[]" : "]";
}

void add_numbers(std::string& text, std::string_view key, auto const& numbers) {
    text += fmt::format(R"(,"{}":)", key);
    add_list(text, numbers, [&](auto number) { text += fmt::format("{}", number); });
}

/// Writes the fields of one operation. Peers of a step are ranks of its group; the document names world ranks.
class OperationWriter {
public:
    OperationWriter(std::string& text, Plan const& plan) : text_(text), plan_(plan) {}

    void operator()(Exchange const& step) const {
        group(step.group);
        blocks("send", step.group, step.send);
        blocks("recv", step.group, step.recv);
        if (step.scattered) {
            format(R"(,"scattered":{{"row_bytes":{},"sent":)", step.scattered->row_bytes);
            places(step.scattered->sent);
            format(R"(,"received":)");
            places(step.scattered->received);
            format("}}");
        }
    }
    void operator()(Send const& step) const {
        group(step.group);
        blocks("send", step.group, std::vector<Block>(step.window.messages, step.to));
        stream(step.channel, step.batch);
    }
    void operator()(Recv const& step) const {
        group(step.group);
        blocks("recv", step.group, std::vector<Block>(step.window.messages, step.from));
        stream(step.channel, step.batch);
    }
    void operator()(Barrier const& step) const { group(step.group); }
    void operator()(Put const& step) const {
        signals("send", step, step.send, [&](auto i) { return step.targets[i]; });
    }
    void operator()(WaitSignal const& step) const {
        signals("recv", step, step.recv, [&](auto i) { return step.recv[i].offset; });
    }
    void operator()(auto const& step) const { collective(step); }
    void operator()(Compute const& step) const {
        format(R"(,"busy_ns":{})", step.busy_ns);
        if (step.product) {
            format(R"(,"product":{{"rows":{},"columns":{},"inner":{}}})", step.product->rows, step.product->columns,
                   step.product->inner);
        }
        if (step.conversion) {
            Conversion const& conversion = *step.conversion;
            format(
                R"(,"conversion":{{"direction":"{}","format":"{}","element":"{}","number_bytes":{},"packed_bytes":{})",
                name_of(conversion.direction), to_string(conversion.format), name_of(conversion.element),
                conversion.number_bytes(), conversion.packed_bytes());
            if (conversion.by) {
                format(R"(,"by":"{}")", name_of(*conversion.by));
            }
            format("}}");
        }
        if (step.rearrangement) {
            Rearrangement const& rows = *step.rearrangement;
            format(R"(,"rearrangement":{{"direction":"{}","by":"{}","row_bytes":{},"runs":)", name_of(rows.direction),
                   name_of(rows.by), rows.row_bytes);
            add_list(text_, rows.runs, [&](RowRun const& run) {
                format("[{},{},{},{},{}]", run.rows, run.from, run.to, run.from_stride, run.to_stride);
            });
            format("}}");
        }
        if (step.uninterrupted) {
            format(R"(,"uninterrupted":true)");
        }
    }

private:
    void places(ScatteredSide const& side) const {
        add_list(text_, side.runs,
                 [&](RowPlaces const& run) { format("[{},{},{}]", run.rows, run.first, run.stride); });
    }
    template <class... Arguments>
    void format(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) const {
        text_ += fmt::format(pattern, std::forward<Arguments>(arguments)...);
    }
    [[nodiscard]] Rank world_rank(GroupId id, Rank member) const {
        return plan_.groups.at(id).members.at(static_cast<std::size_t>(member));
    }
    void group(GroupId id) const { add_numbers(text_, "group", plan_.groups.at(id).members); }
    void blocks(std::string_view side, GroupId id, std::span<Block const> list) const {
        format(R"(,"{}":)", side);
        add_list(text_, list, [&](Block const& block) {
            format(R"({{"peer":{},"bytes":{}}})", world_rank(id, block.peer), block.bytes);
        });
    }
    /// `place_of(i)`: of block i, in the receiver's buffer.
    void signals(std::string_view side, auto const& step, std::vector<Block> const& list, auto const& place_of) const {
        group(step.group);
        format(R"(,"{}":)", side);
        std::size_t next = 0;
        add_list(text_, list, [&](Block const& block) {
            format(R"({{"peer":{},"bytes":{},"offset":{}}})", world_rank(step.group, block.peer), block.bytes,
                   place_of(next++));
        });
        format(R"(,"signals":)");
        add_list(text_, step.signals, [&](Signal const& signal) {
            format(R"({{"peer":{},"blocks":{}}})", world_rank(step.group, signal.peer), signal.blocks);
        });
    }
    void stream(int channel, int batch) const { format(R"(,"channel":{},"batch":{})", channel, batch); }
    void collective(auto const& step) const {
        group(step.group);
        format(R"(,"bytes":{},"element":"{}")", step.bytes, name_of(step.element));
        if constexpr (requires { step.reduction; }) {
            format(R"(,"reduction":"{}")", name_of(step.reduction));
        }
        if constexpr (requires { step.root; }) {
            format(R"(,"root":{})", world_rank(step.group, step.root));
        }
        if constexpr (requires { step.shares; }) {
            if (!step.shares.empty()) {
                add_numbers(text_, "shares", step.shares);
            }
        }
    }

    std::string& text_;
    Plan const& plan_;
};

void add_step(std::string& text, Plan const& plan, std::size_t id, PlanHeader const& header) {
    Step const& step = plan.steps[id];
    text += fmt::format(R"({{"id":{},"operation":"{}","label":{})", id, name_of(step.operation), compact(step.label));
    add_numbers(text, "after", step.after);
    if (step.microbatch >= 0) {
        text += fmt::format(R"(,"microbatch":{})", step.microbatch);
    }
    std::visit(OperationWriter(text, plan), step.operation);
    if (auto const times = header.recorded ? header.recorded(plan.me, static_cast<StepId>(id)) : std::nullopt) {
        text += fmt::format(R"(,"recorded_ns":[{},{}])", times->first, times->second);
    }
    text.push_back('}');
}

void add_plan(std::string& text, Plan const& plan, PlanHeader const& header) {
    text += fmt::format("\n{{\"rank\":{},\"steps\":[", plan.me);
    for (std::size_t id = 0; id < plan.steps.size(); ++id) {
        text += id == 0 ? "" : ",";
        add_step(text, plan, id, header);
    }
    text += "]}";
}

}  // namespace

void write_plan_document(PlanHeader const& header, PlanSource const& plans, TextSink const& sink) {
    Json const head{{"schema", plan_schema},
                    {"pattern", header.pattern},
                    {"preset", header.preset},
                    {"parameters", parameters_json(header.parameters)},
                    {"world", write_value(header.world, "world")},
                    {"draw", {{"seed", header.draw.seed}, {"index", header.draw.index}}},
                    {"statistics", statistics_json(header.statistics)}};
    std::string const front = compact(head);
    sink(std::string_view{front}.substr(0, front.size() - 1));  // the closing brace comes after the plans
    sink(R"(,"plans":[)");
    bool first = true;
    plans.each([&](Plan const& plan) {
        std::string text;
        text += std::exchange(first, false) ? "" : ",";
        add_plan(text, plan, header);
        sink(text);
    });
    sink("]\n}\n");
}

std::string plan_document(PlanHeader const& header, PlanSource const& plans) {
    std::string text;
    write_plan_document(header, plans, [&](std::string_view piece) { text += piece; });
    return text;
}

}  // namespace dlmb::record
