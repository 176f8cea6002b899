// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/compete.hpp"

#include "common/base/error.hpp"
#include "common/bootstrap/first_reason.hpp"
#include "common/measure/flags.hpp"
#include "common/measure/rotation.hpp"

#include <fmt/format.h>

namespace dlmb::app {
namespace {

std::string candidate_name(Variant const& variant, Entry const& entry) {
    return fmt::format("{} {} {} {}", variant.title, entry.cell.identity.backend, entry.cell.identity.method,
                       entry.cell.identity.memory);
}

/// Collective. No positions and a reason when this method cannot run these plans.
measure::Candidate compile(LaunchContext& launch, measure::Contest const& contest, Entry const& entry, std::string name,
                           std::string& why_not) {
    measure::Candidate candidate{std::move(name), entry.backend, {}, 0, entry.cell.is_default};
    launch.watchdog.arm(candidate.name, launch.options.runner.timeout_ns);
    launch.watchdog.activity("set-up");
    launch.reporter.doing(fmt::format("setting up {} {}", entry.cell.identity.backend, entry.cell.identity.method));
    Nanoseconds const start = now_ns();
    std::uint64_t const positions = measure::positions_of(contest.plans.size(), contest.slots.size());
    for (std::uint64_t position = 0; position < positions; ++position) {
        auto compiled = entry.backend->compile(contest.plans[position % contest.plans.size()],
                                               contest.slots[position % contest.slots.size()], entry.method);
        if (position < contest.plans.size()) {
            why_not = first_reason(launch.bootstrap, compiled ? "" : compiled.error().reason);
        } else if (!compiled) {
            throw Error(fmt::format("{}: compiled for the first buffers and not for others: {}", candidate.name,
                                    compiled.error().reason));
        }
        if (!why_not.empty()) {
            candidate.positions.clear();
            break;
        }
        candidate.positions.push_back(std::move(compiled).value());
    }
    candidate.setup_ns = now_ns() - start;
    entry.backend->quiesce();
    return candidate;
}

/// The error of the common clock counts where the sample is a span on it.
bool is_below_floor(measure::CellResult const& result, double timer_ns) {
    measure::ClockFloor floor{timer_ns};
    if (result.sync.method == "window") {
        floor.common_error_ns = static_cast<double>(result.sync.clock_error_ns);
    }
    return measure::is_below_floor(result.time.median * static_cast<double>(result.iterations_per_sample), floor);
}

}  // namespace

void compete(LaunchContext& launch, Variant const& variant, measure::Contest const& contest,
             std::vector<Entry> const& entries) {
    std::vector<measure::Candidate> candidates;
    std::vector<Entry const*> running;
    for (Entry const& entry : entries) {
        std::string const name = candidate_name(variant, entry);
        launch.reporter.expect(name, entry.cell);
        std::string why_not;
        measure::Candidate candidate = compile(launch, contest, entry, name, why_not);
        if (why_not.empty()) {
            candidates.push_back(std::move(candidate));
            running.push_back(&entry);
        } else {
            report_skipped(launch, variant, entry, why_not);
        }
    }
    if (candidates.empty()) {
        return;
    }
    std::size_t left = candidates.size();
    launch.reporter.doing(fmt::format("measuring {} cells in turns", left));
    auto const finished = [&](std::size_t index, measure::CellResult const& result) {
        record::Cell cell = running[index]->cell;
        cell.result = result;
        if (auto const& calibration = launch.reporter.launch().calibration; calibration && !result.samples_ns.empty()) {
            cell.result.below_floor = is_below_floor(result, calibration->timer.cost_ns);
        }
        cell.backend_facts = candidates[index].positions.front()->provenance();  // before what its backend says
        cell.backend_facts.merge(running[index]->backend->provenance());
        launch.overlap.add(cell);
        launch.reporter.cell(cell, variant.title);
        launch.reporter.doing(fmt::format("measuring {} more cells in turns", --left));
    };
    measure::run_contest(contest, candidates, launch.options.runner, launch.watchdog, finished);
}

}  // namespace dlmb::app
