// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/compiled_entries.hpp"

#include "common/base/error.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/buffers/rotation.hpp"

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
            why_not = first_refusal(launch.bootstrap, compiled ? "" : compiled.error().reason);
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

}  // namespace

CompiledEntries compile_entries(LaunchContext& launch, Variant const& variant, measure::Contest const& contest,
                                std::vector<Entry> entries) {
    CompiledEntries compiled;
    for (Entry& entry : entries) {
        std::string const name = candidate_name(variant, entry);
        launch.reporter.expect(name, entry.cell);
        std::string why_not;
        measure::Candidate candidate = compile(launch, contest, entry, name, why_not);
        if (why_not.empty()) {
            compiled.candidates.push_back(std::move(candidate));
            compiled.entries.push_back(std::move(entry));
        } else {
            report_skipped(launch, variant, entry, why_not);
        }
    }
    return compiled;
}

}  // namespace dlmb::app
