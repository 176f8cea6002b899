// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A table as the files and variables that make another program follow it, and what that program cannot express.
// Exporters are pure functions: equal input, equal bytes.
#pragma once

#include "common/formats/table/table.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::tuning {

/// Why a rule does not hold in the consumer as it does in the table.
enum class LostReason : std::uint8_t {
    operation_not_tunable,  // the consumer has no choice for this operation
    key_not_expressible,    // a condition or a parameter that its format does not have
    size_ignored,           // it sees no size, or less of it than the rule says
    range_limit,            // a bound beyond its integers, or too many values to list
    unknown_algorithm,      // its library has none of this name, or not safely for what the rule matches
    other_slice,            // another memory kind, element, reduction or number of nodes than the export is for
    other_backend           // the table hands this operation to another backend
};
[[nodiscard]] std::string_view name_of(LostReason reason);

struct Lost {
    std::string rule;  // its id
    LostReason why;
    std::string detail;  // one line for a person
    bool operator==(Lost const&) const = default;
};

struct File {
    std::string name;
    std::string text;
};

/// Stands for the folder of the files in values of Export::env, which is known only when they are written.
inline constexpr std::string_view folder_mark = "@FOLDER@";

struct Export {
    std::vector<File> files;
    std::map<std::string, std::string> env;
    std::vector<Lost> lost;          // in the order of the table
    std::vector<std::string> notes;  // what the user of the consumer must know; one line each
    bool chooses = false;            // some choice is not the consumer's own; else the files change nothing
    [[nodiscard]] bool loses(Rule const& rule) const {
        return std::any_of(lost.begin(), lost.end(), [&](Lost const& one) { return one.rule == rule.id; });
    }
};

/// lost.json: an array of {"rule", "why", "detail"}, one per line.
[[nodiscard]] std::string to_json(std::vector<Lost> const& lost);

/// The part of a table that a consumer can hold when its format has no key for memory, element, reduction or nodes: one
/// value of each. Empty or absent: unknown, so that only rules without this condition are carried.
struct Slice {
    std::optional<std::uint64_t> nodes;
    std::string memory;     // memory_words
    std::string dtype;      // element_words
    std::string reduction;  // reduction_words
    bool operator==(Slice const&) const = default;
};

/// Conditions that the format of a consumer has itself; the others come from the slice or are lost.
struct DistinguishedKeys {
    bool memory = false;
    bool nodes = false;
    bool imbalance = false;  // the exporter finds one choice for all of it (rules_of)
};

/// Fills what is unknown, and not among `keys`, with the only value that the rules of `scope` name. Throws UsageError
/// where they name several: the user must say which one the export is for; and for a word that no table has.
[[nodiscard]] Slice complete(Slice slice, TuningTable const& table, std::string_view scope, DistinguishedKeys keys);

struct LibraryVersion {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned patch = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(LibraryVersion const&) const = default;
};
/// From the first three numbers of "4.1.4", "5.0.8rc1" or "6.0". Throws UsageError if it starts with none.
[[nodiscard]] LibraryVersion parse_version(std::string_view text);

/// coll/tuned of Open MPI 4.1 and 5.0 (coll_tuned_dynamic_file.c): dlmb_rules.conf. It compares bytes of basis_of
/// (dt * count * n where n shares make the whole). Ranges of sizes and ranks that no rule covers get algorithm 0, the
/// library's own decision: an entry of this format holds for everything above it, and the first one also for everything
/// below it. `version`: "4.1.4"; algorithms are known by version. From 6 on all rules are lost.
/// On several nodes 5.0 asks coll/han first: dlmb_han_rules.conf (coll_han_dynamic_file.c) lets it hand on what
/// dlmb_rules.conf has a rule for.
/// `commutative`: no program that loads the files reduces with operations that do not commute.
[[nodiscard]] Export to_open_mpi(TuningTable const& table, Slice const& slice, std::string const& version,
                                 bool commutative = false);

struct MpichInfo {
    std::string tree;                  // the selection tree compiled into the library, as JSON
    std::set<std::string> algorithms;  // leaves that the library knows: "MPIR_Allreduce_intra_smp"
    std::string origin;                // where both come from, for the reader
    std::string version;               // "4.0.2"; empty: unknown, taken for a new one
};
/// Tree and algorithms are text in the library; packages ship no file of them. It does not say its version. Throws
/// UsageError when the file cannot be read or holds no tree.
[[nodiscard]] MpichInfo read_mpich(std::filesystem::path const& library);

/// MPICH and its relatives (src/mpi/coll/src/csel.c): dlmb_collectives.json. A tree of ours replaces the whole tree of
/// the library, so ours is the library's own with rules spliced in: every size and number of ranks that no rule covers
/// keeps the subtree of the library. Throws UsageError when the tree is not one of csel.c.
[[nodiscard]] Export to_mpich(TuningTable const& table, Slice const& slice, MpichInfo const& info);

/// The conditions that each format distinguishes; those of UCX depend on its version.
inline constexpr DistinguishedKeys mpi_keys{.imbalance = true};
inline constexpr DistinguishedKeys nccl_keys{.nodes = true};
inline constexpr DistinguishedKeys ucc_keys{.memory = true, .imbalance = true};

/// libnccl-tuner-dlmb.so (NVIDIA's example plugin has the same columns): dlmb_nccl.csv, of the rules in scope "nccl".
/// Sizes are NCCL's nBytes, which are those of basis_of. `plugin`: its path, for NCCL_TUNER_PLUGIN.
[[nodiscard]] Export to_nccl(TuningTable const& table, Slice const& slice, std::string const& plugin);

/// UCX: ucx.conf with the message size from which it takes the rendezvous protocol, from rules of sendrecv that set the
/// knob UCX_RNDV_THRESH. UCX has no other choice that depends on sizes and that a file can hold. `version`: "1.13.1";
/// from 1.17 on the threshold is one for ranks on one node and one for ranks on two.
[[nodiscard]] Export to_ucx(TuningTable const& table, Slice const& slice, std::string const& version);
[[nodiscard]] DistinguishedKeys keys_of_ucx(std::string const& version);
/// The threshold in "65536", "64K" or "inf" (no_limit); nothing: neither.
[[nodiscard]] std::optional<Bytes> read_threshold(std::string const& text);

/// TL/UCP of UCC (src/coll_score/ucc_coll_score.c): a tuning string, or sections of ucc.conf where rules speak of
/// nodes. Sizes and ranks are closed in the table, ends of sizes are exclusive in UCC.
[[nodiscard]] Export to_ucc(TuningTable const& table, Slice const& slice);

}  // namespace dlmb::tuning
