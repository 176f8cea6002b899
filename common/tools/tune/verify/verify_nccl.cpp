// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/run_program.hpp"
#include "common/base/command_line/siblings.hpp"
#include "common/tools/tune/verify/consumers.hpp"
#include "common/tools/tune/verify/program_output.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace dlmb::tuning::commands {
namespace {

constexpr Bytes most_announced_bytes = Bytes{1} << 30;

/// Nothing where the rule cannot be tried with these ranks. Fills in `skipped` where NCCL cannot run.
std::optional<Check> check(VerifyRequest const& request, Rule const& rule, std::string& skipped) {
    TunedOperation const operation = rule.when.operation;
    std::uint64_t const ranks = request.ranks.value_or(rule.when.ranks ? rule.when.ranks->min : 2);
    ByteInterval const range = rule.when.bytes.value_or(ByteInterval{0, no_limit});
    Bytes const unit = ranks * 4;
    Bytes const bytes = (std::max<Bytes>(range.min, 1) + unit - 1) / unit * unit;  // of no bytes NCCL logs nothing
    if (bytes > std::min(range.max, most_announced_bytes) || (rule.when.ranks && !rule.when.ranks->contains(ranks))) {
        return std::nullopt;
    }
    bool const scatters = operation == TunedOperation::reduce_scatter;
    std::string const named = scatters ? "reduce_scatter_block" : std::string(name_of(operation));
    Bytes const message = operation == TunedOperation::allgather ? bytes / ranks : bytes;  // as -m counts
    auto environment = request.environment;
    environment.insert({{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG_SUBSYS", "INIT,TUNING,ENV"}});
    Finished const finished =
        run_ranks(request.launcher, ranks, environment,
                  {sibling_program("dlmb_collective").string(), "--operation", named, "--backend", "nccl", "--memory",
                   "cuda", "--shared-gpu", "-m", fmt::format("{0}:{0}", message), "-i", "2"},
                  std::chrono::seconds(300));
    if (finished.exit_code == exit_nothing_ran) {
        skipped = "NCCL cannot run here; it needs a GPU";
        return std::nullopt;
    }
    auto const nodes = nodes_in(finished.output);
    if (nodes && rule.when.nodes && !rule.when.nodes->contains(*nodes)) {
        return Check{TrialVerdict::unseen,
                     fmt::format("{} of {} bytes, {} ranks: ran on {} nodes, {} is for {} to {}", name_of(operation),
                                 bytes, ranks, *nodes, rule.id, rule.when.nodes->min, rule.when.nodes->max)};
    }
    bool const loaded = finished.output.find("Using DLMB (v") != finished.output.npos;
    std::string const wanted = rule.choose.algorithm->name + " " + rule.choose.params.protocol;
    std::string const seen = nccl_choice(finished.output, facts_of(kind_of(operation)).nccl);
    return Check{loaded && seen == wanted ? TrialVerdict::held : TrialVerdict::wrong,
                 fmt::format("{} of {} bytes, {} ranks: plugin {}, NCCL took {}, the table says {}", name_of(operation),
                             bytes, ranks, loaded ? "loaded" : "not loaded", seen, wanted)};
}

}  // namespace

Verification verify_nccl(VerifyRequest const& request) {
    Verification result;
    for (Rule const& rule : request.table.rules) {
        if (rule.scope == "nccl" && rule.choose.algorithm && !request.made.loses(rule) && result.skipped.empty()) {
            if (auto tried = check(request, rule, result.skipped)) {
                result.checks.push_back(std::move(*tried));
            }
        }
    }
    if (result.checks.empty() && result.skipped.empty()) {
        result.skipped = "no rule of the table that could be exported to nccl can be tried with these ranks";
    }
    return result;
}

}  // namespace dlmb::tuning::commands
