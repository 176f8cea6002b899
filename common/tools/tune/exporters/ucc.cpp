// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/exporters/select_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

namespace dlmb::tuning {
namespace {

constexpr CountInterval any_ranks{1, no_limit};

/// Ours and UCC's.
constexpr std::pair<std::string_view, std::string_view> memory_names[] = {
    {"", ""}, {"host", "host"}, {"cuda", "cuda"}, {"managed", "cuda_managed"}, {"rocm", "rocm"}};

/// Algorithms of TL/UCP: ucc_info -A of 1.2 and the sources of 1.4. A name that a build lacks is refused by it in its
/// log.
std::set<std::string_view> ucc_algorithms(MpiCall collective) {
    switch (collective) {
    case MpiCall::allgather:
        return {"knomial", "ring", "neighbor", "bruck", "sparbit", "linear", "batched"};
    case MpiCall::allreduce:
        return {"knomial", "sra_knomial", "dbt", "sliding_window", "ring"};
    case MpiCall::alltoall:
        return {"pairwise", "bruck", "onesided"};
    case MpiCall::alltoallv:
        return {"pairwise", "hybrid", "onesided"};
    case MpiCall::bcast:
        return {"knomial", "sag_knomial", "dbt"};
    default:
        break;
    }
    return {"ring", "knomial"};
}

std::string range_text(CountInterval ranks) {
    return ranks.max == no_limit ? fmt::format("{}-inf", ranks.min) : fmt::format("{}-{}", ranks.min, ranks.max);
}

/// One rule of one collective; team sizes are left out where a section says them.
std::optional<std::string> token(MpiCall collective, std::string_view memory, ExportedRule const& one, bool team_sizes,
                                 std::vector<Lost>& lost) {
    Choice const& choose = one.rule->choose;
    if (!choose.algorithm || choose.algorithm->family != "ucc.tl_ucp" ||
        !ucc_algorithms(collective).contains(choose.algorithm->name)) {
        return lose(lost, one, LostReason::unknown_algorithm,
                    fmt::format("method '{}' is no algorithm of TL/UCP", choose.method));
    }
    if (choose.params != ChoiceParams{}) {
        return lose(lost, one, LostReason::key_not_expressible, "a token takes no parameters");
    }
    std::string text{name_in_ucc(collective)};
    text += memory.empty() ? "" : fmt::format(":{}", memory);
    if (one.bytes != ByteInterval{0, no_limit}) {
        // For a reduce_scatter UCC compares the bytes that one rank receives.
        bool const is_per_rank = collective == MpiCall::reduce_scatter_block;
        auto const bytes = is_per_rank ? per_rank(one.bytes, one.ranks.min) : std::optional{one.bytes};
        if (!bytes) {
            return std::nullopt;  // no size of n equal shares lies in the rule
        }
        text += fmt::format(":{}-{}", bytes->min,
                            one.bytes.max == no_limit ? "inf" : fmt::format("{}", bytes->max + 1));  // exclusive
    }
    if (team_sizes && one.ranks != any_ranks) {
        text += fmt::format(":[{}]", range_text(one.ranks));
    }
    return text + fmt::format(":@{}", choose.algorithm->name);
}

struct UccToken {
    CountInterval ranks;
    std::string text;
};

std::string joined(std::vector<UccToken> const& tokens, CountInterval ranks) {
    std::vector<std::string_view> texts;
    for (UccToken const& token : tokens) {
        if (token.ranks.covers(ranks)) {
            texts.push_back(token.text);
        }
    }
    return fmt::format("{}", fmt::join(texts, "#"));
}

/// UCC takes any one of several sections for one team (ucc_parser.c), so sections are cut at every bound of ranks.
/// Their ranges end in numbers.
std::string section_file(std::vector<UccToken> const& tokens, std::uint64_t nodes) {
    constexpr std::uint64_t largest_team = 2147483647;
    std::set<std::uint64_t> ends{largest_team + 1};  // the first number behind
    for (UccToken const& token : tokens) {
        ends.insert({token.ranks.min, std::min(token.ranks.max, largest_team) + 1});
    }
    std::string text;
    std::uint64_t first = 0;
    for (std::uint64_t const end : ends) {
        if (std::string const tune = joined(tokens, {first, end - 1}); !tune.empty()) {
            text += fmt::format("[team_size={}-{} nnodes={}]\nUCC_TL_UCP_TUNE={}\n", first, end - 1, nodes, tune);
        }
        first = end;
    }
    return text;
}

}  // namespace

std::string_view name_in_ucc(MpiCall collective) {
    return collective == MpiCall::reduce_scatter_block ? "reduce_scatter" : name_of(collective);
}

Export to_ucc(TuningTable const& table, Slice const& slice) {
    Selection selection = select_rules(table, "ucc", slice, ucc_keys);
    auto& lost = selection.lost;
    lose_other_operations(selection.rules, lost);
    bool const sections =
        slice.nodes && std::any_of(selection.rules.begin(), selection.rules.end(),
                                   [](ExportedRule const& one) { return one.rule->when.nodes.has_value(); });
    std::vector<UccToken> tokens;
    for (MpiCall const which : exported_calls) {
        for (auto const& [ours, theirs] : memory_names) {
            std::vector<ExportedRule> of_memory = selection.rules;
            std::erase_if(of_memory, [&own = ours](ExportedRule const& one) { return one.rule->when.memory != own; });
            auto rules = rules_of(which, of_memory, lost);
            if (which == MpiCall::reduce_scatter_block) {
                rules = split_ranks(rules, lost);
            }
            for (RankSegment const& segment : rank_segments(rules)) {
                for (ExportedRule const& one : segment.rules) {
                    if (auto text = token(which, theirs, one, !sections, lost)) {
                        tokens.push_back({sections ? segment.ranks : any_ranks, std::move(*text)});
                    }
                }
            }
        }
    }
    for (ExportedRule const& one : selection.rules) {
        bool const known = std::any_of(std::begin(memory_names), std::end(memory_names),
                                       [&](auto const& memory) { return memory.first == one.rule->when.memory; });
        if (!one.keeps_default() && !known) {
            lose(lost, one, LostReason::key_not_expressible, "UCC does not know this kind of memory");
        }
    }
    Export result{
        {}, {}, in_order(std::move(lost), table), {"Open MPI runs UCC with --mca coll_ucc_enable 1"}, !tokens.empty()};
    if (std::any_of(tokens.begin(), tokens.end(),
                    [](UccToken const& token) { return token.text.starts_with("reduce_scatter"); })) {
        result.notes.emplace_back(
            "UCC looks up reduce_scatters in place by the whole vector, others by the part of a rank");
    }
    if (sections) {
        result.files.push_back({"ucc.conf", section_file(tokens, *slice.nodes)});
        result.env.emplace("UCC_CONFIG_FILE", std::string(folder_mark) + "/ucc.conf");
    } else if (!tokens.empty()) {
        result.env.emplace("UCC_TL_UCP_TUNE", joined(tokens, any_ranks));
    }
    return result;
}

}  // namespace dlmb::tuning
