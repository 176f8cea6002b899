// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/consumers/consumers.hpp"
#include "common/app/tune/consumers/run_program.hpp"
#include "common/backend_kit/nccl_tuner_control.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

namespace dlmb::app::tune {
namespace {

constexpr int exit_nothing_ran = 77;
constexpr Bytes most_announced_bytes = Bytes{1} << 30;

template <std::size_t count>
// NCCL's log has names or numbers.
std::string name_or_number(std::string const& text, std::array<std::string_view, count> const& names) {
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    auto const number = parse_whole<std::size_t>(lower);
    return number && *number < count ? std::string(names.at(*number)) : lower;
}

/// "ring ll128", from a line as "AllReduce: 65536 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..1}".
std::string chosen(std::string const& output, tuning::Rule const& rule) {
    std::string const function = rule.when.operation == tuning::TunedOperation::allreduce        ? "AllReduce"
                                 : rule.when.operation == tuning::TunedOperation::allgather      ? "AllGather"
                                 : rule.when.operation == tuning::TunedOperation::reduce_scatter ? "ReduceScatter"
                                                                                                 : "Broadcast";
    std::smatch match;
    std::regex const line(function + R"(: \d+ Bytes -> Algo (\w+) proto (\w+))", std::regex::icase);
    return std::regex_search(output, match, line) ? name_or_number(match[1], nccl_tuner::algorithm_names) + " " +
                                                        name_or_number(match[2], nccl_tuner::protocol_names)
                                                  : "nothing";
}

/// Nothing where the rule cannot be tried with these ranks. Fills in `skipped` where NCCL cannot run.
std::optional<Check> check(VerifyRequest const& request, tuning::Rule const& rule, std::string& skipped) {
    std::uint64_t const ranks = request.ranks.value_or(rule.when.ranks ? rule.when.ranks->min : 2);
    Bytes const unit = ranks * 4;
    Bytes const bytes = ((rule.when.bytes ? rule.when.bytes->min : 0) + unit - 1) / unit * unit;
    if (bytes > most_announced_bytes || (rule.when.ranks && !rule.when.ranks->contains(ranks))) {
        return std::nullopt;
    }
    auto environment = request.environment;
    environment.insert({{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG_SUBSYS", "INIT,TUNING,ENV"}});
    Finished const finished = run_ranks(request.mpiexec, ranks, environment,
                                        {sibling_program("dlmb_collective").string(), "--operation",
                                         std::string(name_of(rule.when.operation)), "--backend", "nccl", "--memory",
                                         "cuda", "-m", fmt::format("{0}:{0}", bytes), "-i", "2"},
                                        std::chrono::seconds(300));
    if (finished.exit_code == exit_nothing_ran) {
        skipped = "NCCL cannot run here; it needs a GPU for each rank";
        return std::nullopt;
    }
    bool const loaded = finished.output.find("Using DLMB (v") != finished.output.npos;
    std::string const wanted = rule.choose.algorithm->name + " " + rule.choose.params.protocol;
    std::string const seen = chosen(finished.output, rule);
    return Check{loaded && seen == wanted ? Verdict::held : Verdict::wrong,
                 fmt::format("{} of {} bytes, {} ranks: plugin {}, NCCL took {}, the table says {}",
                             name_of(rule.when.operation), bytes, ranks, loaded ? "loaded" : "not loaded", seen,
                             wanted)};
}

}  // namespace

Verification verify_nccl(VerifyRequest const& request) {
    Verification result;
    for (tuning::Rule const& rule : request.table.rules) {
        if (rule.scope == "nccl" && rule.choose.algorithm && result.skipped.empty()) {
            if (auto tried = check(request, rule, result.skipped)) {
                result.checks.push_back(std::move(*tried));
            }
        }
    }
    if (result.checks.empty() && result.skipped.empty()) {
        result.skipped = "the table has no rule for nccl";
    }
    return result;
}

}  // namespace dlmb::app::tune
