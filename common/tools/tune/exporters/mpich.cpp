// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tools/tune/exporters/select_rules.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <fstream>
#include <optional>
#include <sstream>

namespace dlmb::tuning {
namespace {

// Condition of a leaf: the library obeys the tree without the checks that a forced variable gets.
enum class MpichGuard : std::uint8_t {
    none,
    not_in_place,
    commutative,
    built_in_and_long,  // a built-in reduction of at least as many elements as the largest power of two of ranks
    hierarchy,          // the communicator spans nodes and has subcommunicators for them
    commutative_hierarchy,
    power_of_two  // of ranks
};

struct MpichAlgorithm {
    std::string_view name;  // "recursive_doubling"
    MpichGuard guard = MpichGuard::none;
};

/// Names are the words of MPIR_CVAR_*_INTRA_ALGORITHM, of algorithms that are safe without MPI_IN_PLACE and
/// need no parameters. Source: src/mpi/coll/*/*.c of 4.0.2 and the tree in its library; tried with 4.0.2, 4.3.2 and
/// 5.0.2.
std::vector<MpichAlgorithm> mpich_algorithms(MpiCall collective) {
    using enum MpichGuard;
    switch (collective) {
    case MpiCall::allgather:
        return {{"brucks"}, {"nb"}, {"recursive_doubling", power_of_two}, {"ring"}};
    case MpiCall::allreduce:
        return {{"nb"},
                {"recursive_doubling"},
                {"reduce_scatter_allgather", built_in_and_long},
                {"ring", commutative},
                {"smp", commutative_hierarchy}};
    case MpiCall::alltoall:
        return {{"brucks", not_in_place}, {"nb"}, {"pairwise", not_in_place}, {"scattered", not_in_place}};
    case MpiCall::alltoallv:
        return {{"nb"}, {"scattered", not_in_place}};
    case MpiCall::bcast:
        return {{"binomial"},
                {"nb"},
                {"scatter_recursive_doubling_allgather"},
                {"scatter_ring_allgather"},
                {"smp", hierarchy}};
    default:
        break;
    }
    return {{"nb"},
            {"noncommutative", power_of_two},
            {"pairwise", commutative},
            {"recursive_doubling"},
            {"recursive_halving", commutative}};
}

/// "MPIR_Allreduce_intra_recursive_doubling"; "MPIR_Bcast_allcomm_nb" for any kind of communicator.
std::string leaf_name(MpiCall collective, std::string_view algorithm) {
    std::string name(name_of(collective));
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
    return fmt::format("MPIR_{}_{}_{}", name, algorithm == "nb" ? "allcomm" : "intra", algorithm);
}

/// Sizes and ranks are read with atoi.
constexpr std::uint64_t mpich_most = 2147483647;

struct MpichRow {
    ByteInterval bytes;  // of the key; a max of no_limit: all larger ones
    std::string leaf;
    MpichGuard guard = MpichGuard::none;
};

/// "avg_msg_size", "total_msg_size", or empty: the call is chosen without its size. 4.0.2 aborts on avg_msg_size
/// elsewhere than in allreduce, bcast, reduce and alltoall.
std::string_view mpich_size_key(MpiCall collective) {
    bool const is_total = collective == MpiCall::allgather || collective == MpiCall::reduce_scatter_block;
    return collective == MpiCall::alltoallv ? "" : is_total ? "total_msg_size" : "avg_msg_size";
}

/// Where avg_msg_size is what a rank sends to one other.
bool average_is_per_peer(MpiCall collective) {
    return collective == MpiCall::alltoall;
}

/// From the sixth call on such a communicator within one node runs a method of its own for these calls
/// (MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD, release_gather), whatever the tree and the forced algorithm say. Seen with
/// 4.1.3, 4.2.3, 4.3.2 and 5.0.2, not with 4.0.2.
bool is_left_to_the_node(MpiCall collective, MpichInfo const& info) {
    bool const is_reached = info.version.empty() || parse_version(info.version) >= LibraryVersion{4, 1, 0};
    return is_reached && (collective == MpiCall::allreduce || collective == MpiCall::bcast);
}

/// With sizes in the unit of the call's key.
std::optional<MpichRow> mpich_row(MpiCall collective, MpichInfo const& info, ExportedRule const& one,
                                  std::vector<Lost>& lost) {
    Choice const& choose = one.rule->choose;
    if (is_left_to_the_node(collective, info)) {
        return lose(lost, one, LostReason::operation_not_tunable,
                    fmt::format("MPICH {} runs its release_gather on the ranks of a node whatever its tree says",
                                info.version));
    }
    if (one.ranks.min > mpich_most) {
        return lose(lost, one, LostReason::range_limit, "more ranks than the format can say");
    }
    if (!choose.algorithm || choose.algorithm->family != "mpich") {
        return lose(lost, one, LostReason::unknown_algorithm,
                    fmt::format("method '{}' is no algorithm of MPICH", choose.method));
    }
    std::string const& name = choose.algorithm->name;
    auto const known = mpich_algorithms(collective);
    auto const algorithm =
        std::find_if(known.begin(), known.end(), [&](MpichAlgorithm const& each) { return each.name == name; });
    std::string leaf = leaf_name(collective, name);
    if (algorithm == known.end() || !info.algorithms.contains(leaf)) {
        return lose(lost, one, LostReason::unknown_algorithm,
                    fmt::format("{} of {} is not known in {}, or not safe to choose by size", name, name_of(collective),
                                info.origin));
    }
    if (algorithm->guard == MpichGuard::power_of_two &&
        !(one.ranks.min == one.ranks.max && std::has_single_bit(one.ranks.min))) {
        return lose(lost, one, LostReason::unknown_algorithm, fmt::format("{} runs for powers of two only", name));
    }
    if (choose.params != ChoiceParams{}) {
        return lose(lost, one, LostReason::key_not_expressible, "a leaf of the tree takes no parameters");
    }
    MpichRow row{one.bytes, std::move(leaf), algorithm->guard};
    if (mpich_size_key(collective).empty()) {
        return row;
    }
    if (average_is_per_peer(collective)) {
        auto const shares = per_rank(one.bytes, one.ranks.min);
        if (!shares) {
            return std::nullopt;  // no size of n equal shares lies in the rule
        }
        row.bytes = {shares->min, one.bytes.max == no_limit ? no_limit : shares->max};
    }
    if (row.bytes.min > mpich_most) {
        return lose(lost, one, LostReason::range_limit, "begins above 2147483647, the largest number of the format");
    }
    if (row.bytes.max > mpich_most && row.bytes.max != no_limit) {
        lose(lost, one, LostReason::range_limit,
             "sizes above 2147483647, the largest number of the format, keep the default");
        row.bytes.max = mpich_most;
    }
    return row;
}

using Tree = nlohmann::ordered_json;  // the order of keys is the order of the questions

/// Rules of one call on top of the library's subtree for it.
class Splice {
public:
    Splice(std::string_view size_key, Tree const& base) : size_key_(size_key), base_(base) {}

    [[nodiscard]] Tree tree(std::vector<RowsByRanks<MpichRow>> const& all) const {
        return with_gaps("comm_size", 1, all, &RowsByRanks<MpichRow>::ranks,
                         [&](RowsByRanks<MpichRow> const& of_ranks) {
                             return size_key_.empty() ? leaf(of_ranks.rows.front())
                                                      : with_gaps(size_key_, 0, of_ranks.rows, &MpichRow::bytes,
                                                                  [&](MpichRow const& row) { return leaf(row); });
                         });
    }

private:
    /// The first key that holds decides, so that a range that no entry covers has the library's subtree.
    template <class Entry, class SubtreeOf>
    [[nodiscard]] Tree with_gaps(std::string_view key, std::uint64_t least, std::vector<Entry> const& entries,
                                 CountInterval Entry::*range, SubtreeOf subtree_of) const {
        Tree tree = Tree::object();
        std::uint64_t next = least;
        for (Entry const& entry : entries) {
            auto const [min, max] = entry.*range;
            if (next < min) {
                tree[fmt::format("{}<={}", key, min - 1)] = base_;
            }
            if (max == no_limit) {
                tree[fmt::format("{}=any", key)] = subtree_of(entry);
                return tree;
            }
            tree[fmt::format("{}<={}", key, max)] = subtree_of(entry);
            next = max + 1;
        }
        tree[fmt::format("{}=any", key)] = base_;
        return tree;
    }

    [[nodiscard]] Tree with_hierarchy(Tree const& below) const {
        return {{"comm_hierarchy=parent", below}, {"comm_hierarchy=any", base_}};
    }

    [[nodiscard]] Tree leaf(MpichRow const& row) const {
        Tree leaf{{fmt::format("algorithm={}", row.leaf), Tree::object()}};
        switch (row.guard) {
        case MpichGuard::not_in_place:
            return {{"is_sendbuf_inplace=yes", base_}, {"is_sendbuf_inplace=no", leaf}};
        case MpichGuard::commutative:
            return {{"is_commutative=yes", leaf}, {"is_commutative=no", base_}};
        case MpichGuard::built_in_and_long:
            return {{"is_op_built_in=no", base_}, {"is_op_built_in=yes", {{"count<pow2", base_}, {"count=any", leaf}}}};
        case MpichGuard::hierarchy:
            return with_hierarchy(leaf);
        case MpichGuard::commutative_hierarchy:
            return with_hierarchy({{"is_commutative=yes", leaf}, {"is_commutative=no", base_}});
        case MpichGuard::none:
        case MpichGuard::power_of_two:  // only such numbers of ranks come this far
            break;
        }
        return leaf;
    }

    std::string_view size_key_;
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
    MpichInfo info{{}, {}, library.string(), {}};
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
    Selection selection = select_rules(table, "mpi", slice, mpi_keys);
    lose_other_operations(selection.rules, selection.lost);
    bool chooses = false;
    bool not_in_place = false;
    for (MpiCall const which : exported_calls) {
        auto rules = rules_of(which, selection.rules, selection.lost);
        if (average_is_per_peer(which)) {
            rules = split_ranks(rules, selection.lost);
        }
        auto all = rows_by_ranks<MpichRow>(
            rules, [&](ExportedRule const& one) { return mpich_row(which, info, one, selection.lost); });
        for (RowsByRanks<MpichRow>& of_ranks : all) {
            of_ranks.ranks.max = of_ranks.ranks.max >= mpich_most ? no_limit : of_ranks.ranks.max;
            not_in_place =
                not_in_place || std::any_of(of_ranks.rows.begin(), of_ranks.rows.end(),
                                            [](MpichRow const& row) { return row.guard == MpichGuard::not_in_place; });
        }
        if (!all.empty()) {
            chooses = true;
            Tree& place = subtree(tree, name_of(which), info.origin);
            Tree const base = place;
            place = Splice(mpich_size_key(which), base).tree(all);
        }
    }
    Export made{
        {{"dlmb_collectives.json", tree.dump() + "\n"}},
        {{"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", std::string(folder_mark) + "/dlmb_collectives.json"}},
        in_order(std::move(selection.lost), table),
        {fmt::format("made for {} and for no other library: it would abort on what it does not know", info.origin),
         "unset every MPIR_CVAR_*_INTRA_ALGORITHM: it beats the file",
         "MVAPICH-Plus 4.1 needs MPIR_CVAR_ENABLE_DYNAMIC_TUNING=0 as well"},
        chooses};
    if (not_in_place) {
        made.notes.emplace_back("all-to-alls in place are the library's own choice");
    }
    return made;
}

}  // namespace dlmb::tuning
