// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/exports/exports.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/plan_text.hpp"
#include "common/formats/plan/transform/rescale.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace dlmb::trace {
namespace {

Losses write_goal_export(PlanSource const& plans, FileSink const& sink) {
    LossCounter losses;
    plans.each([&](Plan const& plan) {
        for (Step const& step : plan.steps) {
            losses.add_common(step);
            losses.add("kind, group and type of a collective: it is messages",
                       collective_group(step.operation).has_value());
            losses.add("bytes that a rank gives itself", keeps_bytes(plan, step.operation));
            losses.add("a message of 0 bytes: it has 1", is_empty_message(step.operation));
        }
    });
    write_goal(plans, [&](std::string_view piece) { sink("", piece); });
    return losses.take();
}

}  // namespace

std::span<ExportFormat const> all_export_formats() {
    static constexpr std::array formats{
        ExportFormat{"goal", "schedule of LogGOPSim and ATLAHS (text): messages and computations", false,
                     write_goal_export},
        ExportFormat{"chakra", "execution traces of MLCommons Chakra for ASTRA-sim, and their file of groups", true,
                     write_chakra}};
    return formats;
}

std::string losses_json(std::string_view format, Losses const& losses) {
    nlohmann::ordered_json document{{"format", format}, {"losses", nlohmann::ordered_json::array()}};
    for (auto const& [what, steps] : losses) {
        document["losses"].push_back({{"what", what}, {"steps", steps}});
    }
    return document.dump(2) + "\n";
}

PlanSource only_phase(PlanSource const& plans, std::string const& phase) {
    std::set<std::string, std::less<>> phases;
    plans.each([&](Plan const& plan) {
        for (Step const& step : plan.steps) {
            phases.emplace(phase_of(step.label));
        }
    });
    if (!phases.contains(phase)) {
        std::vector<std::string> const known(phases.begin(), phases.end());
        throw UsageError(fmt::format("--phase: {}", unknown_name("phase", phase, known)));
    }
    return {plans.ranks(), [&plans, phase](Rank rank) {
                return without(plans.of(rank), [&](Step const& step) { return phase_of(step.label) != phase; });
            }};
}

void LossCounter::add_common(Step const& step) {
    add("label", !step.label.empty());
    add("micro-batch", step.microbatch >= 0);
    add("a one-sided write: it is a message, and so is its flag", !signals_of(step.operation).empty());
    if (auto const* send = std::get_if<Send>(&step.operation)) {
        add("batch of messages that are posted in one call", send->batch >= 0);
    } else if (auto const* recv = std::get_if<Recv>(&step.operation)) {
        add("batch of messages that are posted in one call", recv->batch >= 0);
    }
}

bool is_empty_message(Operation const& operation) {
    auto const* send = std::get_if<Send>(&operation);
    auto const* recv = std::get_if<Recv>(&operation);
    return (send != nullptr && send->to.bytes == 0) || (recv != nullptr && recv->from.bytes == 0);
}

bool keeps_bytes(Plan const& plan, Operation const& operation) {
    auto const* exchange = std::get_if<Exchange>(&operation);
    return exchange != nullptr && std::any_of(exchange->send.begin(), exchange->send.end(), [&](Block const& block) {
               return block.bytes > 0 && world_rank(plan, exchange->group, block.peer) == plan.me;
           });
}

}  // namespace dlmb::trace
