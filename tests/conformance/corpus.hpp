// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans that every backend must run or decline with a reason: each operation, and the shapes of traffic on which
// implementations have been wrong. Pure data; run_corpus runs them.
#pragma once

#include "tests/unit/plan/plans_of.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::conformance {

struct CorpusEntry {
    std::string name;
    std::vector<Plan> plans;  // by world rank
};

/// Each rank's plan is built by add(builder, the group of all) or add(builder, the group of all, its rank).
template <class Add>
[[nodiscard]] CorpusEntry entry_of(std::string name, int ranks, Add const& add) {
    return {std::move(name), test::plans_of(ranks, add)};
}

[[nodiscard]] std::vector<CorpusEntry> corpus(int ranks);

/// No backend may decline it: nothing but Exchange, AllGather and Compute.
[[nodiscard]] bool is_required(CorpusEntry const& entry);

/// What its steps, on any rank, ask of a backend; exchanges are uniform if every rank's blocks are equal and packed.
[[nodiscard]] std::vector<OperationUse> uses_of(CorpusEntry const& entry);

/// A part of the corpus, so that no case comes near the time limit for one test.
struct CorpusPart {
    std::string name;
    void (*add)(int ranks, std::vector<CorpusEntry>& entries);
};

// The parts, one file each.
void add_exchanges(int ranks, std::vector<CorpusEntry>& entries);
void add_collectives(int ranks, std::vector<CorpusEntry>& entries);
void add_messages(int ranks, std::vector<CorpusEntry>& entries);
void add_signals(int ranks, std::vector<CorpusEntry>& entries);

/// Bytes from one rank of a group to another.
using Sizes = std::function<Bytes(int from, int to)>;
/// Of rank `me` of the group, which has `ranks`.
StepId add_exchange(PlanBuilder& builder, GroupId group, int me, int ranks, Sizes const& sizes, std::string label,
                    std::vector<StepId> after = {});

/// Sizes around which code paths change: nothing, less than a word, odd, a page and its neighbours, above what is
/// eager.
inline constexpr Bytes sizes_up_to_66_kib[] = {0, 1, 3, 17, 4095, 4096, 4097, 66 << 10};
inline constexpr Bytes one_mib = Bytes{1} << 20;

/// The ranks that are even, or odd, as `me` is; the odd ones in reverse order, so that group ranks are not world ranks
/// and not those modulo the size of the group.
[[nodiscard]] Group parity_group(Rank me, int ranks);

}  // namespace dlmb::conformance
