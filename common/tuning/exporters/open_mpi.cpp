// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/open_mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace dlmb::tuning {
namespace {

constexpr Bytes most_bytes = std::numeric_limits<long>::max();  // read with %li
constexpr std::uint64_t most_ranks = std::numeric_limits<int>::max();
constexpr LibraryVersion second_format{5, 0, 7};  // with max_requests; github.com/open-mpi/ompi, pull request 12589

constexpr LibraryVersion always{0, 0, 0};
constexpr LibraryVersion sparbit{5, 0, 0};
constexpr LibraryVersion main_branch{6, 0, 0};

struct KnownAlgorithm {
    MpiCollective collective;
    int id;
    std::string_view name;
    LibraryVersion since = always;
    LibraryVersion before = {~0U, 0, 0};
};

constexpr std::array known_algorithms{
    KnownAlgorithm{MpiCollective::allgather, 1, "linear"},
    KnownAlgorithm{MpiCollective::allgather, 2, "bruck", always, main_branch},
    KnownAlgorithm{MpiCollective::allgather, 2, "bruck-k-fanout", main_branch},
    KnownAlgorithm{MpiCollective::allgather, 3, "recursive_doubling"},
    KnownAlgorithm{MpiCollective::allgather, 4, "ring"},
    KnownAlgorithm{MpiCollective::allgather, 5, "neighbor"},
    KnownAlgorithm{MpiCollective::allgather, 6, "two_proc"},
    KnownAlgorithm{MpiCollective::allgather, 7, "sparbit", sparbit},
    KnownAlgorithm{MpiCollective::allgather, 8, "direct-messaging", main_branch},
    KnownAlgorithm{MpiCollective::allreduce, 1, "basic_linear"},
    KnownAlgorithm{MpiCollective::allreduce, 2, "nonoverlapping"},
    KnownAlgorithm{MpiCollective::allreduce, 3, "recursive_doubling"},
    KnownAlgorithm{MpiCollective::allreduce, 4, "ring"},
    KnownAlgorithm{MpiCollective::allreduce, 5, "segmented_ring"},
    KnownAlgorithm{MpiCollective::allreduce, 6, "rabenseifner"},
    KnownAlgorithm{MpiCollective::allreduce, 7, "allgather_reduce", main_branch},
    KnownAlgorithm{MpiCollective::alltoall, 1, "linear"},
    KnownAlgorithm{MpiCollective::alltoall, 2, "pairwise"},
    KnownAlgorithm{MpiCollective::alltoall, 3, "modified_bruck"},
    KnownAlgorithm{MpiCollective::alltoall, 4, "linear_sync"},
    KnownAlgorithm{MpiCollective::alltoall, 5, "two_proc"},
    KnownAlgorithm{MpiCollective::alltoallv, 1, "basic_linear"},
    KnownAlgorithm{MpiCollective::alltoallv, 2, "pairwise"},
    KnownAlgorithm{MpiCollective::bcast, 1, "basic_linear"},
    KnownAlgorithm{MpiCollective::bcast, 2, "chain"},
    KnownAlgorithm{MpiCollective::bcast, 3, "pipeline"},
    KnownAlgorithm{MpiCollective::bcast, 4, "split_binary_tree"},
    KnownAlgorithm{MpiCollective::bcast, 5, "binary_tree"},
    KnownAlgorithm{MpiCollective::bcast, 6, "binomial"},
    KnownAlgorithm{MpiCollective::bcast, 7, "knomial"},
    KnownAlgorithm{MpiCollective::bcast, 8, "scatter_allgather"},
    KnownAlgorithm{MpiCollective::bcast, 9, "scatter_allgather_ring"},
    KnownAlgorithm{MpiCollective::reduce_scatter_block, 1, "basic_linear"},
    KnownAlgorithm{MpiCollective::reduce_scatter_block, 2, "recursive_doubling"},
    KnownAlgorithm{MpiCollective::reduce_scatter_block, 3, "recursive_halving"},
    KnownAlgorithm{MpiCollective::reduce_scatter_block, 4, "butterfly"},
};

struct OpenMpiRow {
    ByteInterval bytes;
    int algorithm = 0;
    std::uint64_t fanout = 0;         // 0: the library's own
    std::uint64_t segment_bytes = 0;  // 0: unsegmented
    std::uint64_t max_requests = 0;   // 0: the library's own
};

struct OpenMpiComm {
    CountInterval ranks;
    std::vector<OpenMpiRow> rows;  // ascending, disjoint
};

struct OpenMpiCollective {
    MpiCollective collective;
    std::vector<OpenMpiComm> comms;  // ascending, disjoint
};

struct OpenMpiRows {
    std::vector<OpenMpiCollective> collectives;  // by open_mpi_id
    std::vector<Lost> lost;
};

class OpenMpiTranslation {
public:
    OpenMpiTranslation(MpiCollective collective, LibraryVersion version, std::vector<Lost>& lost)
        : collective_(collective), version_(version), lost_(lost) {}

    OpenMpiComm comm(RankSegment const& segment) {
        OpenMpiComm comm{segment.ranks, {}};
        for (Carried const& one : segment.rules) {
            if (auto const found = row(one, segment.ranks)) {
                comm.rows.push_back(*found);
            }
        }
        return comm;
    }

private:
    std::optional<OpenMpiRow> lose(Rule const& rule, LostReason why, std::string detail) {
        lost_.push_back({rule.id, why, std::move(detail)});
        return std::nullopt;
    }

    std::optional<OpenMpiRow> row(Carried const& one, CountInterval ranks) {
        Rule const& rule = *one.rule;
        if (!rule.choose.algorithm || rule.choose.algorithm->family != "open_mpi.tuned") {
            return lose(rule, LostReason::unknown_algorithm,
                        fmt::format("method '{}' is no algorithm of coll/tuned", rule.choose.method));
        }
        std::string const& name = rule.choose.algorithm->name;
        auto const id = open_mpi_id(collective_, name, version_);
        if (!id) {
            return lose(rule, LostReason::unknown_algorithm,
                        fmt::format("coll/tuned {}.{}.{} has no {} for {}", version_.major, version_.minor,
                                    version_.patch, name, name_of(collective_)));
        }
        if (auto const obstacle = open_mpi_obstacle(name, ranks); !obstacle.empty()) {
            return lose(rule, LostReason::unknown_algorithm, fmt::format("{} {}", name, obstacle));
        }
        return with_params(one, {clip(one), *id});
    }

    std::optional<OpenMpiRow> with_params(Carried const& one, OpenMpiRow row) {
        ChoiceParams rest = one.rule->choose.params;
        row.fanout = std::exchange(rest.fanout, {}).value_or(0);
        row.segment_bytes = std::exchange(rest.segment_bytes, {}).value_or(0);
        if (version_ >= second_format) {
            row.max_requests = std::exchange(rest.max_requests, {}).value_or(0);
        }
        if (rest != ChoiceParams{}) {
            return lose(*one.rule, LostReason::key_not_expressible, "has parameters that the rules file does not");
        }
        if (row.fanout > most_ranks || row.segment_bytes > most_bytes || row.max_requests > most_ranks ||
            row.bytes.min > most_bytes || one.ranks.min > most_ranks) {
            return lose(*one.rule, LostReason::range_limit, "is beyond the integers of the format");
        }
        return row;
    }

    /// A range that ends beyond the last number that can be written has no end: no message is that large.
    ByteInterval clip(Carried const& one) const {
        return {one.bytes.min, one.bytes.max >= most_bytes ? no_limit : one.bytes.max};
    }

    MpiCollective collective_;
    LibraryVersion version_;
    std::vector<Lost>& lost_;
};

OpenMpiRows open_mpi_rows(TuningTable const& table, Slice const& slice, LibraryVersion version) {
    Selection selection = select_rules(table, "mpi", slice, {.imbalance = true});
    OpenMpiRows result;
    lose_other_operations(selection.rules, selection.lost);
    for (MpiCollective const which : every_mpi_collective) {
        auto const rules = rules_of(which, selection.rules, selection.lost);
        OpenMpiTranslation translation(which, version, selection.lost);
        OpenMpiCollective collective{which, {}};
        for (RankSegment const& segment : rank_segments(rules)) {
            OpenMpiComm comm = translation.comm(segment);
            comm.ranks.max = comm.ranks.max >= most_ranks ? no_limit : comm.ranks.max;
            if (!comm.rows.empty()) {
                collective.comms.push_back(std::move(comm));
            }
        }
        if (!collective.comms.empty()) {
            result.collectives.push_back(std::move(collective));
        }
    }
    result.lost = in_order(std::move(selection.lost), table);
    return result;
}

class Writer {
public:
    explicit Writer(bool max_requests) : max_requests_(max_requests) {}

    std::string collective(OpenMpiCollective const& one) {
        comms_.clear();
        count_ = 0;
        std::uint64_t next = 0;
        for (OpenMpiComm const& entry : one.comms) {
            if (next < entry.ranks.min) {
                own_decision(next);
            }
            comm(entry);
            next = entry.ranks.max == no_limit ? no_limit : entry.ranks.max + 1;
        }
        if (next != no_limit) {
            own_decision(next);
        }
        return fmt::format("{} {}  # {}\n{}", open_mpi_id(one.collective), count_, name_of(one.collective), comms_);
    }

private:
    std::string row(Bytes bytes, OpenMpiRow const& row) const {
        return fmt::format("  {} {} {} {}{}\n", bytes, row.algorithm, row.fanout, row.segment_bytes,
                           max_requests_ ? fmt::format(" {}", row.max_requests) : "");
    }

    void own_decision(std::uint64_t ranks) {
        comms_ += fmt::format("{} 1\n{}", ranks, row(0, {}));
        ++count_;
    }

    void comm(OpenMpiComm const& entry) {
        std::string rows;
        std::size_t count = 0;
        Bytes next = 0;
        for (OpenMpiRow const& one : entry.rows) {
            if (next < one.bytes.min) {
                rows += row(next, {});
                ++count;
            }
            rows += row(one.bytes.min, one);
            ++count;
            next = one.bytes.max == no_limit ? no_limit : one.bytes.max + 1;
        }
        if (next != no_limit) {
            rows += row(next, {});
            ++count;
        }
        comms_ += fmt::format("{} {}\n{}", entry.ranks.min, count, rows);
        ++count_;
    }

    bool max_requests_;
    std::string comms_;
    std::size_t count_ = 0;
};

bool any_max_requests(OpenMpiRows const& rows) {
    for (OpenMpiCollective const& collective : rows.collectives) {
        for (OpenMpiComm const& comm : collective.comms) {
            for (OpenMpiRow const& row : comm.rows) {
                if (row.max_requests != 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

}  // namespace

int open_mpi_id(MpiCollective collective) {
    switch (collective) {
    case MpiCollective::allgather:
        return 0;
    case MpiCollective::allreduce:
        return 2;
    case MpiCollective::alltoall:
        return 3;
    case MpiCollective::alltoallv:
        return 4;
    case MpiCollective::bcast:
        return 7;
    case MpiCollective::reduce_scatter_block:
        break;
    }
    return 13;
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

std::optional<int> open_mpi_id(MpiCollective collective, std::string_view algorithm, LibraryVersion version) {
    for (KnownAlgorithm const& known : known_algorithms) {
        if (known.collective == collective && known.name == algorithm && known.since <= version &&
            version < known.before) {
            return known.id;
        }
    }
    return std::nullopt;
}

Export to_open_mpi(TuningTable const& table, Slice const& slice, std::string const& version) {
    OpenMpiRows rows = open_mpi_rows(table, slice, parse_version(version));
    // Versions before the second format take its first line for junk and then read no rule, without a word.
    bool const second = any_max_requests(rows);
    std::string text = second ? "rule-file-version-2\n" : "";
    text +=
        fmt::format("{}  # collectives; then: its id, entries; ranks, rows; from bytes, algorithm, fanout, segment\n",
                    rows.collectives.size());
    Writer writer(second);
    for (OpenMpiCollective const& collective : rows.collectives) {
        text += writer.collective(collective);
    }
    return {{{"dlmb_rules.conf", std::move(text)}},
            {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
             {"OMPI_MCA_coll_tuned_dynamic_rules_filename", std::string(folder_mark) + "/dlmb_rules.conf"}},
            std::move(rows.lost),
            {"unset every OMPI_MCA_coll_tuned_*_algorithm: from Open MPI 5 on it beats the file",
             "Open MPI 5 runs coll/han instead on several nodes; add --mca coll ^han for the rules to act there"}};
}

}  // namespace dlmb::tuning
