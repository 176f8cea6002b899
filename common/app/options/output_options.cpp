// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/options/option_groups.hpp"
#include "common/base/error.hpp"

#include <CLI/CLI.hpp>

namespace dlmb::app {
namespace {

constexpr char const* output_group = "Output";

}  // namespace

void OutputOptions::add(CLI::App& app, Options& options) {
    app.add_option("--results", results, "append the results to this JSON Lines file")->group(output_group);
    app.add_flag("--resume", options.resume, "skip cells that the results file already holds as ok")
        ->group(output_group);
    app.add_option("--campaign", options.campaign, "name that joins several launches in the results")
        ->group(output_group);
    app.add_option("--plan", plan, "print the plans of all ranks as text, json or goal, and stop")
        ->check(CLI::IsMember({"text", "json", "goal"}))
        ->group(output_group);
    app.add_option("--layout", layout, "human table: dlmb, osu or nccl (times in us, bandwidth in 10^9 B/s)")
        ->check(CLI::IsMember({"dlmb", "osu", "nccl"}))
        ->capture_default_str()
        ->group(output_group);
    app.add_flag("--version", version, "print version and git revision and exit")->group(output_group);
}

void OutputOptions::take(Options& options) const {
    options.layout = layout == "osu" ? Layout::osu : layout == "nccl" ? Layout::nccl : Layout::dlmb;
    if (!plan.empty()) {
        options.plan = plan == "text" ? PlanFormat::text : plan == "json" ? PlanFormat::json : PlanFormat::goal;
    }
    if (!results.empty()) {
        options.results = results;
    }
    if (options.resume && !options.results) {
        throw UsageError("--resume: needs --results FILE, the file whose finished cells are skipped");
    }
}

}  // namespace dlmb::app
