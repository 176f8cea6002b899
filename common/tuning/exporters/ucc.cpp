// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/mpi_collective.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace dlmb::tuning {
namespace {

struct MemoryName {
    std::string_view ours;
    std::string_view theirs;
};
constexpr std::array memory_names{MemoryName{"", ""}, MemoryName{"host", "host"}, MemoryName{"cuda", "cuda"},
                                  MemoryName{"managed", "cuda_managed"}, MemoryName{"rocm", "rocm"}};

/// Algorithms of TL/UCP: ucc_info -A of 1.2 and the sources of 1.4. A name that a build lacks is refused by it in its
/// log.
std::set<std::string_view> const& algorithms(MpiCollective collective) {
    static std::map<MpiCollective, std::set<std::string_view>> const known{
        {MpiCollective::allgather, {"knomial", "ring", "neighbor", "bruck", "sparbit", "linear", "batched"}},
        {MpiCollective::allreduce, {"knomial", "sra_knomial", "dbt", "sliding_window", "ring"}},
        {MpiCollective::alltoall, {"pairwise", "bruck", "onesided"}},
        {MpiCollective::alltoallv, {"pairwise", "hybrid", "onesided"}},
        {MpiCollective::bcast, {"knomial", "sag_knomial", "dbt"}},
        {MpiCollective::reduce_scatter_block, {"ring", "knomial"}}};
    return known.at(collective);
}

std::string_view name_in_ucc(MpiCollective collective) {
    return collective == MpiCollective::reduce_scatter_block ? "reduce_scatter" : name_of(collective);
}

bool speaks_of_nodes(Carried const& one) {
    return one.rule->when.nodes.has_value();
}

std::string range_text(CountInterval ranks) {
    return ranks.max == no_limit ? fmt::format("{}-inf", ranks.min) : fmt::format("{}-{}", ranks.min, ranks.max);
}

/// One rule of one collective as a token; team sizes are left out where a section says them.
class Token {
public:
    Token(MpiCollective collective, std::string_view memory, std::vector<Lost>& lost)
        : collective_(collective), memory_(memory), lost_(lost) {}

    std::optional<std::string> write(Carried const& one, bool team_sizes) {
        Choice const& choose = one.rule->choose;
        if (!choose.algorithm || choose.algorithm->family != "ucc.tl_ucp" ||
            !algorithms(collective_).contains(choose.algorithm->name)) {
            return lose(one, LostReason::unknown_algorithm,
                        fmt::format("method '{}' is no algorithm of TL/UCP", choose.method));
        }
        if (choose.params != ChoiceParams{}) {
            return lose(one, LostReason::key_not_expressible, "a token takes no parameters");
        }
        auto const bytes = sizes(one);
        if (!bytes) {
            return std::nullopt;  // no size of n equal shares lies in the rule
        }
        std::string token{name_in_ucc(collective_)};
        token += memory_.empty() ? "" : fmt::format(":{}", memory_);
        token += *bytes;
        token +=
            team_sizes && one.ranks != CountInterval{1, no_limit} ? fmt::format(":[{}]", range_text(one.ranks)) : "";
        return token + fmt::format(":@{}", choose.algorithm->name);
    }

private:
    std::optional<std::string> lose(Carried const& one, LostReason why, std::string detail) {
        lost_.push_back({one.rule->id, why, std::move(detail)});
        return std::nullopt;
    }

    std::optional<std::string> sizes(Carried const& one) const {
        if (one.bytes == ByteInterval{0, no_limit}) {
            return "";
        }
        // Of a reduce_scatter UCC compares what one rank receives.
        bool const is_per_rank = collective_ == MpiCollective::reduce_scatter_block;
        auto const bytes = is_per_rank ? per_rank(one.bytes, one.ranks.min) : std::optional{one.bytes};
        if (!bytes) {
            return std::nullopt;
        }
        return fmt::format(":{}-{}", bytes->min,
                           one.bytes.max == no_limit ? "inf" : fmt::format("{}", bytes->max + 1));  // exclusive
    }

    MpiCollective collective_;
    std::string_view memory_;
    std::vector<Lost>& lost_;
};

/// Tokens by ranks; under one key where they say their ranks themselves.
using Tokens = std::map<CountInterval, std::vector<std::string>>;

void add_tokens(Tokens& tokens, std::vector<Carried> const& rules, bool sections, Token token) {
    for (RankSegment const& segment : rank_segments(rules)) {
        for (Carried one : segment.rules) {
            one.ranks = segment.ranks;
            if (auto const text = token.write(one, !sections)) {
                tokens[sections ? segment.ranks : CountInterval{1, no_limit}].push_back(*text);
            }
        }
    }
}

std::string section_file(Tokens const& tokens, std::uint64_t nodes) {
    std::string text;
    for (auto const& [ranks, of_ranks] : tokens) {
        text += fmt::format("[team_size={} nnodes={}]\nUCC_TL_UCP_TUNE={}\n", range_text(ranks), nodes,
                            fmt::join(of_ranks, "#"));
    }
    return text;
}

}  // namespace

Export to_ucc(TuningTable const& table, Slice const& slice) {
    Selection selection = select_rules(table, "ucc", slice, {.memory = true, .imbalance = true});
    auto& lost = selection.lost;
    lose_other_operations(selection.rules, lost);
    bool const sections = slice.nodes && std::any_of(selection.rules.begin(), selection.rules.end(), speaks_of_nodes);
    Tokens tokens;
    for (MpiCollective const which : every_mpi_collective) {
        for (MemoryName const memory : memory_names) {
            std::vector<Carried> of_memory;
            std::copy_if(selection.rules.begin(), selection.rules.end(), std::back_inserter(of_memory),
                         [&](Carried const& one) { return one.rule->when.memory == memory.ours; });
            auto rules = rules_of(which, of_memory, lost);
            if (which == MpiCollective::reduce_scatter_block) {
                rules = split_ranks(rules, lost);
            }
            add_tokens(tokens, rules, sections, {which, memory.theirs, lost});
        }
    }
    for (Carried const& one : selection.rules) {
        auto const known = [&](MemoryName const& memory) { return memory.ours == one.rule->when.memory; };
        if (!one.keeps_default() && std::none_of(memory_names.begin(), memory_names.end(), known)) {
            lost.push_back({one.rule->id, LostReason::key_not_expressible, "UCC does not know this kind of memory"});
        }
    }
    Export result{{}, {}, in_order(std::move(lost), table), {"Open MPI runs UCC with --mca coll_ucc_enable 1"}};
    if (sections) {
        result.files.push_back({"ucc.conf", section_file(tokens, *slice.nodes)});
        result.env.emplace("UCC_CONFIG_FILE", std::string(folder_mark) + "/ucc.conf");
    } else if (!tokens.empty()) {
        result.env.emplace("UCC_TL_UCP_TUNE", fmt::format("{}", fmt::join(tokens.begin()->second, "#")));
    }
    return result;
}

}  // namespace dlmb::tuning
