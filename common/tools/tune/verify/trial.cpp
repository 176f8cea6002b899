// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/verify/trial.hpp"

#include "common/formats/table/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace dlmb::tuning::commands {
namespace {

constexpr Bytes most_bytes = Bytes{64} << 20;
constexpr std::uint64_t element_bytes = 4;
constexpr Bytes uneven_bytes_per_peer = 1024;

/// The table's answer for a collective at a size; nullopt: a rule that is lost.
std::optional<Probe> probe_at(VerifyRequest const& request, Slice const& slice, TunedOperation operation,
                              MpiCall collective, Bytes bytes, std::uint64_t ranks) {
    std::string const scope = scope_of(request.request.consumer);
    Key const key{.operation = operation,
                  .bytes = bytes,
                  .ranks = ranks,
                  .nodes = slice.nodes,
                  .memory = slice.memory,
                  .dtype = slice.dtype,
                  .reduction = slice.reduction,
                  .in_place = false,
                  .uniform = operation == TunedOperation::exchange ? std::optional(true) : std::nullopt};
    Rule const* const rule = lookup(request.table, key, scope).deciding();
    if (rule != nullptr && request.made.loses(*rule)) {
        return std::nullopt;
    }
    bool const chosen = rule != nullptr && rule->choose.algorithm;
    return Probe{collective, bytes, ranks, chosen ? rule->choose.algorithm->name : ""};
}

/// At the ends of a rule, beside them, and with other numbers of ranks: bytes and ranks. Libraries run nothing for no
/// bytes.
std::vector<std::pair<Bytes, std::uint64_t>> around(ExportedRule const& one, std::uint64_t ranks) {
    Bytes const unit = ranks * element_bytes;
    Bytes const first = std::max(unit, (one.bytes.min + unit - 1) / unit * unit);
    Bytes const last = std::min(one.bytes.max, most_bytes) / unit * unit;
    if (first > last) {
        return {};
    }
    std::vector<std::pair<Bytes, std::uint64_t>> places{{first, ranks}, {last, ranks}};
    if (first > unit) {
        places.emplace_back(first - unit, ranks);
    }
    if (last + unit <= most_bytes) {
        places.emplace_back(last + unit, ranks);
    }
    for (std::uint64_t const other : {std::uint64_t{2}, ranks - 1, ranks + 1}) {
        if (other >= 2 && other != ranks) {
            Bytes const its_unit = other * element_bytes;
            places.emplace_back(std::max(its_unit, first / its_unit * its_unit), other);
        }
    }
    return places;
}

std::uint64_t ranks_to_try(VerifyRequest const& request, ExportedRule const& one) {
    return request.ranks.value_or(std::max<std::uint64_t>(one.ranks.min, 2));
}

/// Files hold one choice of alltoallv for all sizes and imbalances: it is tried with its number of ranks and with
/// others.
void add_uneven_probes(VerifyRequest const& request, std::vector<ExportedRule> const& rules, std::set<Probe>& found) {
    std::vector<Lost> ignored;
    std::vector<ExportedRule> exported = rules_of(MpiCall::alltoallv, rules, ignored);
    std::erase_if(exported, [&](ExportedRule const& one) {
        return std::any_of(request.made.lost.begin(), request.made.lost.end(), [&](Lost const& lost) {
            return lost.rule == one.rule->id &&
                   lost.why != LostReason::size_ignored;  // the choice is there all the same
        });
    });
    auto const algorithm_for = [&](std::uint64_t ranks) -> std::string {
        auto const rule = std::find_if(exported.begin(), exported.end(),
                                       [&](ExportedRule const& one) { return one.ranks.contains(ranks); });
        return rule == exported.end() || !rule->rule->choose.algorithm ? "" : rule->rule->choose.algorithm->name;
    };
    for (ExportedRule const& one : exported) {
        std::uint64_t const tried = ranks_to_try(request, one);
        if (!one.ranks.contains(tried)) {
            continue;
        }
        for (std::uint64_t const ranks : {tried, std::uint64_t{2}, tried - 1, tried + 1}) {
            if (ranks >= 2) {
                found.insert({MpiCall::alltoallv, ranks * uneven_bytes_per_peer, ranks, algorithm_for(ranks)});
            }
        }
    }
}

/// On host memory, where the programs run that are tried, unless the user names another.
Slice tried_slice(VerifyRequest const& request) {
    Slice slice = slice_of(request.request, request.table);
    slice.memory = slice.memory.empty() ? "host" : slice.memory;
    return slice;
}

/// Where the rules of a scope are tried. Those that are lost are left out.
std::set<Probe> probes(VerifyRequest const& request, Slice const& slice) {
    std::string const scope = scope_of(request.request.consumer);
    std::vector<ExportedRule> const rules =
        select_rules(request.table, scope, slice, keys_of(request.request.consumer)).rules;
    std::set<Probe> found;
    add_uneven_probes(request, rules, found);
    for (ExportedRule const& one : rules) {
        When const& when = one.rule->when;
        auto const collective = collective_of(when);
        std::uint64_t const tried = ranks_to_try(request, one);
        if (one.keeps_default() || !collective || collective == MpiCall::alltoallv || !one.ranks.contains(tried)) {
            continue;
        }
        for (auto const& [bytes, by_ranks] : around(one, tried)) {
            if (auto probe = probe_at(request, slice, when.operation, *collective, bytes, by_ranks)) {
                found.insert(std::move(*probe));
            }
        }
    }
    return found;
}

/// Where the table chooses, the forced algorithm has to look otherwise than the library's own choice: only then does a
/// run tell whether the export acts.
Check check(Trial& trial, Probe const& probe, TrialVariables const& exported) {
    bool const chosen = !probe.algorithm.empty();
    Fingerprint const& seen = trial.fingerprint(probe, exported);
    Fingerprint const& by_default = trial.fingerprint(probe, {});
    Fingerprint const& expected =
        chosen ? trial.fingerprint(probe, trial.force(probe.collective, probe.algorithm)) : by_default;
    std::string const what = fmt::format("{} of {} bytes, {} ranks: {}: {}", name_of(probe.collective), probe.bytes,
                                         probe.ranks, chosen ? probe.algorithm : "default", seen.text);
    if (by_default.failed || expected.failed) {
        return {TrialVerdict::unseen,
                fmt::format("{}, {}: {}", what, by_default.failed ? "without the export" : "forced",
                            (by_default.failed ? by_default : expected).text)};
    }
    if (chosen && seen.hidden.contains(expected.text)) {
        return {TrialVerdict::unseen, what + ", and what it called before, among them " + expected.text};
    }
    if (!seen.is_like(expected)) {
        return {TrialVerdict::wrong, fmt::format("{}, expected {}", what, expected.text)};
    }
    if (chosen && expected.is_like(by_default)) {
        return {TrialVerdict::unseen, what + ", as without the export"};
    }
    return {TrialVerdict::held, what};
}

}  // namespace

Fingerprint failure(Finished const& finished) {
    std::istringstream lines(finished.output);
    for (std::string line; std::getline(lines, line);) {
        if (std::ranges::any_of(line, [](unsigned char one) { return std::isalpha(one) != 0; })) {  // no ruler
            return {fmt::format("exit {}: {}", finished.exit_code, line), true};
        }
    }
    return {fmt::format("exit {} without a word", finished.exit_code), true};
}

Fingerprint const& Trial::fingerprint(Probe const& probe, TrialVariables const& environment) {
    auto const [place, is_new] = seen_.try_emplace({probe, environment});
    if (is_new) {
        place->second = look(probe, environment);
    }
    return place->second;
}

Verification verify_rules(VerifyRequest const& request, Trial& trial) {
    Verification result;
    bool anything_chosen = false;
    Slice const slice = tried_slice(request);
    for (Probe const& probe : probes(request, slice)) {
        result.checks.push_back(check(trial, probe, request.environment));
        anything_chosen = anything_chosen || !probe.algorithm.empty();
    }
    if (!anything_chosen) {
        result.skipped = fmt::format("no rule of the table that could be exported holds for these ranks on {} memory, "
                                     "so there is nothing to see",
                                     slice.memory);
    }
    return result;
}

}  // namespace dlmb::tuning::commands
