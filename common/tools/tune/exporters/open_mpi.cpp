// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/exporters/select_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace dlmb::tuning {
namespace {

using enum MpiCall;

constexpr Bytes most_bytes = std::numeric_limits<long>::max();  // read with %li
constexpr std::uint64_t most_ranks = std::numeric_limits<int>::max();
constexpr LibraryVersion second_format{5, 0, 7};  // with max_requests; github.com/open-mpi/ompi, pull request 12589

constexpr LibraryVersion always{0, 0, 0};
constexpr LibraryVersion other_ranks{6, 0, 0};     // reads an entry as one for all ranks below its own
constexpr LibraryVersion han_by_default{5, 0, 0};  // on several nodes coll/han stands before coll/tuned

/// Default of coll_tuned_bcast_algorithm_chain_fanout, with which chains are measured. In a row 0 makes a chain a
/// pipeline.
constexpr std::uint64_t measured_chain_fanout = 4;

struct KnownAlgorithm {
    std::string_view name;
    LibraryVersion since = always;
};

/// By id, from 1.
std::vector<KnownAlgorithm> open_mpi_algorithms(MpiCall collective) {
    switch (collective) {
    case allgather:
        return {{"linear"},   {"bruck"},    {"recursive_doubling"}, {"ring"},
                {"neighbor"}, {"two_proc"}, {"sparbit", {5, 0, 0}}};
    case allreduce:
        return {{"basic_linear"}, {"nonoverlapping"}, {"recursive_doubling"},
                {"ring"},         {"segmented_ring"}, {"rabenseifner"}};
    case alltoall:
        return {{"linear"}, {"pairwise"}, {"modified_bruck"}, {"linear_sync"}, {"two_proc"}};
    case alltoallv:
        return {{"basic_linear"}, {"pairwise"}};
    case bcast:
        return {{"basic_linear"}, {"chain"},   {"pipeline"},          {"split_binary_tree"},     {"binary_tree"},
                {"binomial"},     {"knomial"}, {"scatter_allgather"}, {"scatter_allgather_ring"}};
    default:
        break;
    }
    return {{"basic_linear"}, {"recursive_doubling"}, {"recursive_halving"}, {"butterfly"}};
}

struct OpenMpiRow {
    ByteInterval bytes;
    int algorithm = 0;                // 0: the library's own
    std::uint64_t fanout = 0;         // 0: the library's own, of a chain 1
    std::uint64_t segment_bytes = 0;  // 0: unsegmented
    std::uint64_t max_requests = 0;   // 0: the library's own
};
using OpenMpiRanks = RowsByRanks<OpenMpiRow>;

/// Rings combine blocks in the order of the ring. The library's decision avoids them for others; rules do not.
bool needs_commutative(MpiCall collective, std::string_view algorithm) {
    return collective == allreduce && (algorithm == "ring" || algorithm == "segmented_ring");
}

/// Ranks whose type and count differ cut the message at different places.
bool needs_equal_counts(MpiCall collective, OpenMpiRow const& row) {
    auto const is = [&](std::string_view name) { return row.algorithm == open_mpi_id(bcast, name, always); };
    return collective == bcast && (row.segment_bytes != 0 || is("split_binary_tree") || is("scatter_allgather") ||
                                   is("scatter_allgather_ring"));
}

std::optional<OpenMpiRow> open_mpi_row(MpiCall collective, LibraryVersion version, bool commutative,
                                       ExportedRule const& one, std::vector<Lost>& lost) {
    Choice const& choose = one.rule->choose;
    if (version >= other_ranks) {
        return lose(lost, one, LostReason::operation_not_tunable,
                    "Open MPI 6 takes the rules of a number of ranks for those of fewer");
    }
    if (!choose.algorithm || choose.algorithm->family != "open_mpi.tuned") {
        return lose(lost, one, LostReason::unknown_algorithm,
                    fmt::format("method '{}' is no algorithm of coll/tuned", choose.method));
    }
    std::string const& name = choose.algorithm->name;
    auto const id = open_mpi_id(collective, name, version);
    if (!id) {
        return lose(lost, one, LostReason::unknown_algorithm,
                    fmt::format("coll/tuned {}.{}.{} has no {} for {}", version.major, version.minor, version.patch,
                                name, name_of(collective)));
    }
    if (choose.algorithm->id.value_or(*id) != *id) {
        return lose(lost, one, LostReason::unknown_algorithm,
                    fmt::format("{} has id {} in coll/tuned, the rule says {}", name, *id, *choose.algorithm->id));
    }
    if (!commutative && needs_commutative(collective, name)) {
        return lose(lost, one, LostReason::unknown_algorithm,
                    fmt::format("{} is wrong for operations that do not commute; give --commutative if no program has "
                                "any (all of MPI's own commute)",
                                name));
    }
    if (auto const obstacle = open_mpi_obstacle(name, one.ranks); !obstacle.empty()) {
        return lose(lost, one, LostReason::unknown_algorithm, fmt::format("{} {}", name, obstacle));
    }
    // A range that ends beyond the last number that can be written has no end: no message is that large.
    OpenMpiRow row{{one.bytes.min, one.bytes.max >= most_bytes ? no_limit : one.bytes.max}, *id};
    ChoiceParams rest = choose.params;
    if (collective == allgather && row.bytes.min == 0) {  // as which calls in place without a send count are looked up
        if (row.bytes.max == 0) {
            return std::nullopt;
        }
        row.bytes.min = 1;
    }
    row.fanout = std::exchange(rest.fanout, {}).value_or(name == "chain" ? measured_chain_fanout : 0);
    row.segment_bytes = std::exchange(rest.segment_bytes, {}).value_or(0);
    if (version >= second_format) {
        row.max_requests = std::exchange(rest.max_requests, {}).value_or(0);
    }
    if (rest != ChoiceParams{}) {
        return lose(lost, one, LostReason::key_not_expressible, "has parameters that the rules file does not");
    }
    if (row.fanout > most_ranks || row.segment_bytes > most_bytes || row.max_requests > most_ranks ||
        row.bytes.min > most_bytes || one.ranks.min > most_ranks) {
        return lose(lost, one, LostReason::range_limit, "is beyond the integers of the format");
    }
    return row;
}

struct Entries {
    std::size_t count = 0;
    std::string text;
};

/// An entry holds for everything from its first number on, so that a range that no entry covers gets an empty one: the
/// library's own decision. `range`: of an entry; `write`: its text, given its first number. The first entry begins at
/// `begin`.
template <class Entry, class Write>
Entries with_gaps(std::vector<Entry> const& entries, CountInterval Entry::*range, Write write,
                  std::uint64_t begin = 0) {
    Entries all;
    auto const add = [&](std::uint64_t first, Entry const& entry) {
        ++all.count;
        all.text += write(first, entry);
    };
    std::uint64_t next = begin;
    for (Entry const& entry : entries) {
        auto const [min, max] = entry.*range;
        if (next < min) {
            add(next, {});
        }
        add(min, entry);
        next = max == no_limit ? no_limit : max + 1;
    }
    if (next != no_limit) {
        add(next, {});
    }
    return all;
}

std::string collective_text(MpiCall collective, std::vector<OpenMpiRanks> const& all, bool max_requests) {
    auto const row_text = [&](Bytes bytes, OpenMpiRow const& row) {
        return fmt::format("  {} {} {} {}{}\n", bytes, row.algorithm, row.fanout, row.segment_bytes,
                           max_requests ? fmt::format(" {}", row.max_requests) : "");
    };
    Entries const comms = with_gaps(all, &OpenMpiRanks::ranks, [&](std::uint64_t ranks, OpenMpiRanks const& of_ranks) {
        Entries const rows = with_gaps(of_ranks.rows, &OpenMpiRow::bytes, row_text);
        return fmt::format("{} {}\n{}", ranks, rows.count, rows.text);
    });
    return fmt::format("{} {}  # {}\n{}", open_mpi_id(collective), comms.count, name_of(collective), comms.text);
}

using RowsOfCollectives = std::vector<std::pair<MpiCall, std::vector<OpenMpiRanks>>>;

/// The collectives of these six that coll/han takes from coll/tuned.
bool taken_by_han(MpiCall collective) {
    return collective == allgather || collective == allreduce || collective == bcast;
}

/// coll/han counts the part of one rank in an allgather, coll/tuned that of all. Rows without a size are left out, and
/// those of several numbers of ranks.
std::vector<OpenMpiRow> as_han_counts(MpiCall collective, OpenMpiRanks const& of_ranks) {
    if (collective != allgather) {
        return of_ranks.rows;
    }
    std::vector<OpenMpiRow> rows;
    if (of_ranks.ranks.min != of_ranks.ranks.max) {
        return rows;
    }
    for (OpenMpiRow row : of_ranks.rows) {
        if (auto const bytes = per_rank(row.bytes, of_ranks.ranks.min)) {
            row.bytes = *bytes;
            rows.push_back(row);
        }
    }
    return rows;
}

/// Hands what coll/tuned has a rule for from coll/han to coll/tuned, and nothing else. Empty: there is no such call.
/// The format is that of coll_han_dynamic_file.c of 5.0: collectives, then for each its id, levels; level 2 (all ranks
/// of the communicator), entries; from ranks (first 1), rows; from bytes (first 0), component.
std::string han_text(RowsOfCollectives const& collectives) {
    std::size_t count = 0;
    std::string text;
    auto const row_text = [](Bytes bytes, OpenMpiRow const& row) {
        return fmt::format("  {} {}\n", bytes, row.algorithm == 0 ? "han" : "tuned");
    };
    for (auto const& named : collectives) {
        MpiCall const collective = named.first;
        if (!taken_by_han(collective)) {
            continue;
        }
        ++count;
        auto const entry_text = [&](std::uint64_t ranks, OpenMpiRanks const& of_ranks) {
            Entries const rows = with_gaps(as_han_counts(collective, of_ranks), &OpenMpiRow::bytes, row_text);
            return fmt::format("{} {}\n{}", ranks, rows.count, rows.text);
        };
        Entries const comms = with_gaps(named.second, &OpenMpiRanks::ranks, entry_text, 1);
        text +=
            fmt::format("{} 1  # {}\n2 {}\n{}", open_mpi_id(collective), name_of(collective), comms.count, comms.text);
    }
    return count == 0 ? ""
                      : fmt::format("{}  # collectives; then: id, levels; level, entries; ranks, rows; from bytes, "
                                    "component\n{}",
                                    count, text);
}

}  // namespace

int open_mpi_id(MpiCall collective) {
    static constexpr std::array<int, exported_calls.size()> ids{0, 2, 3, 4, 7, 13};
    return ids.at(static_cast<std::size_t>(std::ranges::find(exported_calls, collective) - exported_calls.begin()));
}

std::string_view open_mpi_obstacle(std::string_view algorithm, CountInterval ranks) {
    if (algorithm == "two_proc" && ranks != CountInterval{2, 2}) {
        return "runs for 2 ranks only and fails for others";
    }
    if (algorithm == "neighbor" && (ranks.min != ranks.max || ranks.min % 2 != 0)) {
        return "runs for even numbers of ranks only; others silently run ring";
    }
    return "";
}

std::optional<int> open_mpi_id(MpiCall collective, std::string_view algorithm, LibraryVersion version) {
    int id = 0;
    for (KnownAlgorithm const& known : open_mpi_algorithms(collective)) {
        ++id;
        if (known.name == algorithm && known.since <= version) {
            return id;
        }
    }
    return std::nullopt;
}

Export to_open_mpi(TuningTable const& table, Slice const& slice, std::string const& version, bool commutative) {
    LibraryVersion const library = parse_version(version);
    Selection selection = select_rules(table, "mpi", slice, mpi_keys);
    lose_other_operations(selection.rules, selection.lost);
    bool const han = library >= han_by_default && slice.nodes != 1;
    RowsOfCollectives collectives;  // by open_mpi_id
    bool max_requests = false;
    bool equal_counts = false;
    for (MpiCall const which : exported_calls) {
        auto rules = rules_of(which, selection.rules, selection.lost);
        if (han && slice.nodes && which == allgather) {
            rules = split_ranks(rules, selection.lost);
        }
        auto all = rows_by_ranks<OpenMpiRow>(rules, [&](ExportedRule const& one) {
            return open_mpi_row(which, library, commutative, one, selection.lost);
        });
        for (OpenMpiRanks& of_ranks : all) {
            of_ranks.ranks.max = of_ranks.ranks.max >= most_ranks ? no_limit : of_ranks.ranks.max;
            for (OpenMpiRow const& row : of_ranks.rows) {
                max_requests = max_requests || row.max_requests != 0;
                equal_counts = equal_counts || needs_equal_counts(which, row);
            }
        }
        if (!all.empty()) {
            collectives.emplace_back(which, std::move(all));
        }
    }
    // Versions before the second format take its first line for junk and then read no rule, without a word.
    std::string text = max_requests ? "rule-file-version-2\n" : "";
    text +=
        fmt::format("{}  # collectives; then: its id, entries; ranks, rows; from bytes, algorithm, fanout, segment\n",
                    collectives.size());
    for (auto const& [collective, all] : collectives) {
        text += collective_text(collective, all, max_requests);
    }
    Export made{{{"dlmb_rules.conf", std::move(text)}},
                {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
                 {"OMPI_MCA_coll_tuned_dynamic_rules_filename", std::string(folder_mark) + "/dlmb_rules.conf"}},
                in_order(std::move(selection.lost), table),
                {"unset every OMPI_MCA_coll_tuned_*_algorithm: from Open MPI 5 on it beats the file"},
                !collectives.empty()};
    if (std::any_of(collectives.begin(), collectives.end(),
                    [](auto const& named) { return named.first == allgather; })) {
        made.notes.emplace_back(
            "allgathers in place are looked up by their send count: without one they are the library's own choice");
    }
    if (equal_counts) {
        made.notes.emplace_back("broadcasts whose root names another count and type than the other ranks can fail or "
                                "hang by these rules, as they do where Open MPI takes such algorithms by itself");
    }
    if (std::string hand_over = han ? han_text(collectives) : ""; !hand_over.empty()) {
        made.files.push_back({"dlmb_han_rules.conf", std::move(hand_over)});
        made.env.insert(
            {{"OMPI_MCA_coll_han_use_dynamic_file_rules", "1"},
             {"OMPI_MCA_coll_han_dynamic_rules_filename", std::string(folder_mark) + "/dlmb_han_rules.conf"}});
    }
    return made;
}

}  // namespace dlmb::tuning
