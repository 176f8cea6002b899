// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plan files, for their summary. They are written as proved, so that nothing is missing in them.
#include "common/formats/plan_file/plan_file.hpp"
#include "common/tools/plan/formats/formats.hpp"

#include <map>
#include <utility>

namespace dlmb::trace {
namespace {

class PlanReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        read_plans(input, {[&](PlanHeader const& header) {
                               builder_.world_of(header.world.ranks);
                               ++iterations_;
                               return true;
                           },
                           [&](Plan const& plan) {
                               add(plan);
                               return true;
                           }});
    }

    void finish() override {
        for (auto& [rank, program] : programs_) {
            builder_.add("", std::move(program));
        }
        builder_.trace().iterations = iterations_;
        builder_.is_proved();
    }

private:
    void add(Plan const& plan) {
        RankProgram& program = programs_.try_emplace(plan.me, RankProgram{{plan.me}, {}}).first->second;
        for (Step const& step : plan.steps) {
            if (auto const group = group_of(step.operation)) {
                TraceOperation operation = operation_of(plan, step.operation);
                operation.group = number_of(plan.groups.at(*group));
                operation.label = step.label;
                operation.iteration = iterations_ - 1;
                program.add(std::move(operation));
            } else {
                builder_.leave_out("compute step");
            }
        }
    }

    static TraceOperation operation_of(Plan const& plan, Operation const& step) {
        TraceOperation operation;
        operation.kind = kind_of(step);
        operation.repeat = messages_of_block(step);
        for (Block const& block : sent_blocks(step)) {
            operation.sent += block.bytes;
        }
        for (Block const& block : received_blocks(step)) {
            operation.received += block.bytes;
        }
        if (auto const* collective = std::get_if<Collective>(&step)) {
            CollectiveSides const sides = sides_of(plan, *collective);
            operation.dtype = {std::string(name_of(collective->element)), size_of(collective->element)};
            operation.sent = sides.sent;
            operation.received = sides.received;
        }
        return operation;
    }

    TraceGroupId number_of(Group const& group) {
        auto& groups = builder_.trace().groups;
        auto const [known, is_new] = groups_.try_emplace(group.members, static_cast<TraceGroupId>(groups.size()));
        if (is_new) {
            groups.push_back({"", static_cast<int>(group.members.size()), group.members, 0});
        }
        return known->second;
    }

    std::map<Rank, RankProgram> programs_;
    std::map<std::vector<Rank>, TraceGroupId> groups_;  // by members
    int iterations_ = 0;
};

bool is_plan(std::string_view /*name*/, std::string_view head) {
    constexpr std::size_t begin = 64;
    return first_character(head) == '{' && head.substr(0, begin).find("\"dlmb.plan/") != std::string_view::npos;
}

}  // namespace

TraceFormat plan_format() {
    return {plan_format_name, "plans of DLMB (--plan jsonl), for their summary", is_plan, make_reader<PlanReader>};
}

}  // namespace dlmb::trace
