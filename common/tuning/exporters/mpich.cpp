// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tuning/exporters/mpi_collective.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <optional>
#include <sstream>

namespace dlmb::tuning {
namespace {

// What must hold where a leaf stands: the tree is obeyed without the checks that a forced variable gets.
enum class MpichGuard : std::uint8_t {
    none,
    not_in_place,
    commutative,
    built_in_and_long,  // a built-in reduction of at least as many elements as the largest power of two of ranks
    hierarchy,          // the communicator spans nodes and has subcommunicators for them
    power_of_two        // of ranks
};

/// Names are the words of MPIR_CVAR_*_INTRA_ALGORITHM. Source: src/mpi/coll/*/*.c of 4.0.2 and the tree in its library.
struct MpichAlgorithm {
    MpiCollective collective;
    std::string_view name;  // "recursive_doubling"
    std::string_view leaf;  // "MPIR_Allreduce_intra_recursive_doubling"
    MpichGuard guard;
};

using enum MpiCollective;

constexpr std::array mpich_algorithm_table{
    MpichAlgorithm{allgather, "brucks", "MPIR_Allgather_intra_brucks", MpichGuard::none},
    MpichAlgorithm{allgather, "nb", "MPIR_Allgather_allcomm_nb", MpichGuard::none},
    MpichAlgorithm{allgather, "recursive_doubling", "MPIR_Allgather_intra_recursive_doubling",
                   MpichGuard::power_of_two},
    MpichAlgorithm{allgather, "ring", "MPIR_Allgather_intra_ring", MpichGuard::none},
    MpichAlgorithm{allreduce, "nb", "MPIR_Allreduce_allcomm_nb", MpichGuard::none},
    MpichAlgorithm{allreduce, "recursive_doubling", "MPIR_Allreduce_intra_recursive_doubling", MpichGuard::none},
    MpichAlgorithm{allreduce, "reduce_scatter_allgather", "MPIR_Allreduce_intra_reduce_scatter_allgather",
                   MpichGuard::built_in_and_long},
    MpichAlgorithm{allreduce, "smp", "MPIR_Allreduce_intra_smp", MpichGuard::commutative},
    MpichAlgorithm{alltoall, "brucks", "MPIR_Alltoall_intra_brucks", MpichGuard::not_in_place},
    MpichAlgorithm{alltoall, "nb", "MPIR_Alltoall_allcomm_nb", MpichGuard::none},
    MpichAlgorithm{alltoall, "pairwise", "MPIR_Alltoall_intra_pairwise", MpichGuard::not_in_place},
    MpichAlgorithm{alltoall, "scattered", "MPIR_Alltoall_intra_scattered", MpichGuard::not_in_place},
    MpichAlgorithm{alltoallv, "nb", "MPIR_Alltoallv_allcomm_nb", MpichGuard::none},
    MpichAlgorithm{alltoallv, "scattered", "MPIR_Alltoallv_intra_scattered", MpichGuard::not_in_place},
    MpichAlgorithm{bcast, "binomial", "MPIR_Bcast_intra_binomial", MpichGuard::none},
    MpichAlgorithm{bcast, "nb", "MPIR_Bcast_allcomm_nb", MpichGuard::none},
    MpichAlgorithm{bcast, "scatter_recursive_doubling_allgather",
                   "MPIR_Bcast_intra_scatter_recursive_doubling_allgather", MpichGuard::none},
    MpichAlgorithm{bcast, "scatter_ring_allgather", "MPIR_Bcast_intra_scatter_ring_allgather", MpichGuard::none},
    MpichAlgorithm{bcast, "smp", "MPIR_Bcast_intra_smp", MpichGuard::hierarchy},
    MpichAlgorithm{reduce_scatter_block, "nb", "MPIR_Reduce_scatter_block_allcomm_nb", MpichGuard::none},
    MpichAlgorithm{reduce_scatter_block, "noncommutative", "MPIR_Reduce_scatter_block_intra_noncommutative",
                   MpichGuard::power_of_two},
    MpichAlgorithm{reduce_scatter_block, "pairwise", "MPIR_Reduce_scatter_block_intra_pairwise",
                   MpichGuard::commutative},
    MpichAlgorithm{reduce_scatter_block, "recursive_doubling", "MPIR_Reduce_scatter_block_intra_recursive_doubling",
                   MpichGuard::none},
    MpichAlgorithm{reduce_scatter_block, "recursive_halving", "MPIR_Reduce_scatter_block_intra_recursive_halving",
                   MpichGuard::commutative},
};

/// Null: none of this name, or one that is safe only with MPI_IN_PLACE.
MpichAlgorithm const* mpich_algorithm(MpiCollective collective, std::string_view name) {
    auto const found =
        std::find_if(mpich_algorithm_table.begin(), mpich_algorithm_table.end(),
                     [&](MpichAlgorithm const& one) { return one.collective == collective && one.name == name; });
    return found == mpich_algorithm_table.end() ? nullptr : &*found;
}

/// Sizes and ranks are read with atoi.
constexpr std::uint64_t mpich_most = 2147483647;

struct MpichRow {
    ByteInterval bytes;  // of the key; a max of no_limit: all larger ones
    MpichAlgorithm const* algorithm = nullptr;
};

struct MpichComm {
    CountInterval ranks;
    std::vector<MpichRow> rows;  // ascending, disjoint
};

/// "avg_msg_size", "total_msg_size", or empty: the call is chosen without its size. 4.0.2 aborts on avg_msg_size
/// elsewhere than in allreduce, bcast, reduce and alltoall.
std::string_view mpich_size_key(MpiCollective collective) {
    switch (collective) {
    case MpiCollective::allreduce:
    case MpiCollective::alltoall:
    case MpiCollective::bcast:
        return "avg_msg_size";
    case MpiCollective::allgather:
    case MpiCollective::reduce_scatter_block:
        return "total_msg_size";
    case MpiCollective::alltoallv:
        break;
    }
    return "";
}

/// Where avg_msg_size is what a rank sends to one other.
bool average_is_per_peer(MpiCollective collective) {
    return collective == MpiCollective::alltoall;
}

/// One rule as a leaf, with sizes in the unit of its call's key.
class MpichTranslation {
public:
    MpichTranslation(MpiCollective collective, MpichInfo const& info, std::vector<Lost>& lost)
        : collective_(collective), info_(info), lost_(lost) {}

    std::optional<MpichRow> row(Carried const& one, CountInterval ranks) {
        Choice const& choose = one.rule->choose;
        if (!choose.algorithm || choose.algorithm->family != "mpich") {
            return lose(one, LostReason::unknown_algorithm,
                        fmt::format("method '{}' is no algorithm of MPICH", choose.method));
        }
        MpichAlgorithm const* const algorithm = mpich_algorithm(collective_, choose.algorithm->name);
        if (algorithm == nullptr || !info_.algorithms.contains(std::string(algorithm->leaf))) {
            return lose(one, LostReason::unknown_algorithm,
                        fmt::format("{} of {} is not known in {}, or not safe to choose by size",
                                    choose.algorithm->name, name_of(collective_), info_.origin));
        }
        if (algorithm->guard == MpichGuard::power_of_two &&
            !(ranks.min == ranks.max && std::has_single_bit(ranks.min))) {
            return lose(one, LostReason::unknown_algorithm,
                        fmt::format("{} runs for powers of two only", choose.algorithm->name));
        }
        if (choose.params != ChoiceParams{}) {
            return lose(one, LostReason::key_not_expressible, "a leaf of the tree takes no parameters");
        }
        return with_sizes(one, ranks, algorithm);
    }

private:
    std::optional<MpichRow> lose(Carried const& one, LostReason why, std::string detail) {
        lost_.push_back({one.rule->id, why, std::move(detail)});
        return std::nullopt;
    }

    std::optional<MpichRow> with_sizes(Carried const& one, CountInterval ranks, MpichAlgorithm const* algorithm) {
        if (mpich_size_key(collective_).empty()) {
            return MpichRow{one.bytes, algorithm};
        }
        auto bytes = average_is_per_peer(collective_) ? per_rank(one.bytes, ranks.min) : std::optional{one.bytes};
        if (!bytes) {
            return std::nullopt;  // no size of n equal shares lies in the rule
        }
        if (one.bytes.max == no_limit) {
            bytes->max = no_limit;
        }
        if (bytes->min > mpich_most) {
            return lose(one, LostReason::range_limit, "begins above 2147483647, the largest number of the format");
        }
        if (bytes->max > mpich_most && bytes->max != no_limit) {
            lose(one, LostReason::range_limit,
                 "sizes above 2147483647, the largest number of the format, keep the default");
            bytes->max = mpich_most;
        }
        return MpichRow{*bytes, algorithm};
    }

    MpiCollective collective_;
    MpichInfo const& info_;
    std::vector<Lost>& lost_;
};

/// For each number of ranks, which leaf for which sizes.
std::vector<MpichComm> mpich_rows(MpiCollective collective, std::vector<Carried> const& rules, MpichInfo const& info,
                                  std::vector<Lost>& lost) {
    MpichTranslation translation(collective, info, lost);
    std::vector<MpichComm> comms;
    for (RankSegment const& segment :
         rank_segments(average_is_per_peer(collective) ? split_ranks(rules, lost) : rules)) {
        MpichComm comm{segment.ranks, {}};
        for (Carried const& one : segment.rules) {
            if (segment.ranks.min > mpich_most) {
                lost.push_back({one.rule->id, LostReason::range_limit, "more ranks than the format can say"});
            } else if (auto const row = translation.row(one, segment.ranks)) {
                comm.rows.push_back(*row);
            }
        }
        if (!comm.rows.empty()) {
            comms.push_back(std::move(comm));
        }
    }
    return comms;
}

using Tree = nlohmann::ordered_json;  // the order of keys is the order of the questions

/// Rules of one call on top of the library's subtree for it.
class Splice {
public:
    Splice(std::string_view key, Tree const& base) : key_(key), base_(base) {}

    Tree tree(std::vector<MpichComm> const& comms) {
        Tree tree = Tree::object();
        std::uint64_t next = 1;
        for (MpichComm const& comm : comms) {
            if (next < comm.ranks.min) {
                tree[fmt::format("comm_size<{}", comm.ranks.min)] = base_;
            }
            if (comm.ranks.max >= mpich_most) {
                tree["comm_size=any"] = sizes(comm.rows);
                return tree;
            }
            tree[fmt::format("comm_size<={}", comm.ranks.max)] = sizes(comm.rows);
            next = comm.ranks.max + 1;
        }
        tree["comm_size=any"] = base_;
        return tree;
    }

private:
    Tree sizes(std::vector<MpichRow> const& rows) const {
        if (key_.empty()) {
            return leaf(*rows.front().algorithm);
        }
        Tree tree = Tree::object();
        Bytes next = 0;
        for (MpichRow const& row : rows) {
            if (next < row.bytes.min) {
                tree[fmt::format("{}<={}", key_, row.bytes.min - 1)] = base_;
            }
            if (row.bytes.max == no_limit) {
                tree[fmt::format("{}=any", key_)] = leaf(*row.algorithm);
                return tree;
            }
            tree[fmt::format("{}<={}", key_, row.bytes.max)] = leaf(*row.algorithm);
            next = row.bytes.max + 1;
        }
        tree[fmt::format("{}=any", key_)] = base_;
        return tree;
    }

    Tree leaf(MpichAlgorithm const& algorithm) const {
        Tree leaf{{fmt::format("algorithm={}", algorithm.leaf), Tree::object()}};
        switch (algorithm.guard) {
        case MpichGuard::not_in_place:
            return {{"is_sendbuf_inplace=yes", base_}, {"is_sendbuf_inplace=no", leaf}};
        case MpichGuard::commutative:
            return {{"is_commutative=yes", leaf}, {"is_commutative=no", base_}};
        case MpichGuard::built_in_and_long:
            return {{"is_op_built_in=no", base_}, {"is_op_built_in=yes", {{"count<pow2", base_}, {"count=any", leaf}}}};
        case MpichGuard::hierarchy:
            return {{"comm_hierarchy=parent", leaf}, {"comm_hierarchy=any", base_}};
        case MpichGuard::none:
        case MpichGuard::power_of_two:  // only such numbers of ranks come this far
            break;
        }
        return leaf;
    }

    std::string_view key_;
    Tree const& base_;
};

Tree& subtree(Tree& tree, std::string_view collective, std::string const& origin) {
    auto const found = tree.find(fmt::format("collective={}", collective));
    if (found == tree.end() || !found->contains("comm_type=intra")) {
        throw UsageError(fmt::format("{}: its selection tree has no {} within one communicator", origin, collective));
    }
    return (*found)["comm_type=intra"];
}

constexpr std::string_view tree_start = R"({"collective=)";
constexpr std::string_view leaf_start = "algorithm=MPIR_";

/// The C string at `begin`, without a newline at its end.
std::string_view text_at(std::string_view bytes, std::size_t begin) {
    std::string_view const text = bytes.substr(begin, bytes.find('\0', begin) - begin);
    return text.substr(0, text.find_last_not_of("\r\n") + 1);
}

/// The device layer has trees of its own, of "composition=" and MPIDI_ leaves; those stay as they are.
bool is_selection_tree(std::string_view text) {
    return text.find("composition=") == text.npos && text.find("=MPIDI_") == text.npos &&
           text.find(R"("collective=ibcast")") != text.npos;
}

}  // namespace

MpichInfo read_mpich(std::filesystem::path const& library) {
    std::ifstream file(library, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    if (!file) {
        throw UsageError(
            fmt::format("{}: cannot be read; give the libmpich.so that programs run with", library.string()));
    }
    std::string const bytes = std::move(content).str();
    MpichInfo info{{}, {}, library.string()};
    for (std::size_t at = bytes.find(tree_start); at != bytes.npos; at = bytes.find(tree_start, at + 1)) {
        if (auto const text = text_at(bytes, at); info.tree.empty() && is_selection_tree(text)) {
            info.tree = text;
        }
    }
    for (std::size_t at = bytes.find(leaf_start); at != bytes.npos; at = bytes.find(leaf_start, at + 1)) {
        // Inside of a tree a name ends with a quote; the list of names that the reader of trees knows does not.
        std::string_view const name = text_at(bytes, at).substr(std::string_view("algorithm=").size());
        if (name.find('"') == name.npos) {
            info.algorithms.emplace(name);
        }
    }
    if (info.tree.empty() || info.algorithms.empty()) {
        throw UsageError(fmt::format(
            "{}: holds no selection tree of MPICH; give the libmpich.so that programs run with", library.string()));
    }
    return info;
}

Export to_mpich(TuningTable const& table, Slice const& slice, MpichInfo const& info) {
    Tree tree = Tree::parse(info.tree, nullptr, false);
    if (!tree.is_object()) {
        throw UsageError(fmt::format("{}: its selection tree is no JSON", info.origin));
    }
    Selection selection = select_rules(table, "mpi", slice, {.imbalance = true});
    lose_other_operations(selection.rules, selection.lost);
    for (MpiCollective const which : every_mpi_collective) {
        auto const rules = rules_of(which, selection.rules, selection.lost);
        auto const comms = mpich_rows(which, rules, info, selection.lost);
        if (!comms.empty()) {
            Tree& place = subtree(tree, name_of(which), info.origin);
            Tree const base = place;
            place = Splice(mpich_size_key(which), base).tree(comms);
        }
    }
    return {{{"dlmb_collectives.json", tree.dump() + "\n"}},
            {{"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", std::string(folder_mark) + "/dlmb_collectives.json"}},
            in_order(std::move(selection.lost), table),
            {fmt::format("made for {} and for no other library: it would abort on what it does not know", info.origin),
             "unset every MPIR_CVAR_*_INTRA_ALGORITHM: it beats the file",
             "MVAPICH-Plus 4.1 needs MPIR_CVAR_ENABLE_DYNAMIC_TUNING=0 as well"}};
}

}  // namespace dlmb::tuning
