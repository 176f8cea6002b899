// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/mpich.hpp"

#include "common/base/error.hpp"
#include "common/tuning/exporters/mpich_rows.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace dlmb::tuning {
namespace {

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

}  // namespace

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
