// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One training iteration on all ranks, with the real values: what each rank holds and what it sends. Sizes of messages
// depend on the data of all ranks, so every rank works all of it out, from the seed.
#pragma once

#include "common/base/philox.hpp"
#include "patterns/sparse_allreduce/gradients.hpp"
#include "patterns/sparse_allreduce/oktopk.hpp"
#include "patterns/sparse_allreduce/params.hpp"
#include "patterns/sparse_allreduce/sparse_vector.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace dlmb::sparse_allreduce {

/// Words that a rank moves: of pairs and dense values, without the announcements of sizes and without estimates.
struct MovedWords {
    std::uint64_t split_sent = 0;      // to be added up elsewhere
    std::uint64_t split_received = 0;  // to be added up here
    std::uint64_t gathered = 0;        // of the result, received
    [[nodiscard]] std::uint64_t split() const { return std::max(split_sent, split_received); }
};

/// Ranks that are added by doubling: those from `twins` on first hand theirs to the rank `twins` before them.
struct Doubling {
    std::size_t twins = 1;                         // the largest power of two up to the ranks
    std::vector<std::vector<std::size_t>> counts;  // [round][rank / 2^round]: entries that the rank sends in it
    std::size_t final_count = 0;
    bool operator==(Doubling const&) const = default;
};

struct SparseIteration {
    std::vector<SparseVector> picks;  // by rank
    SparseVector result;              // on every rank
    double recall = 1;                // the part of the k largest sums of all picks that is in the result, to the bit
    std::vector<MovedWords> words;    // by rank

    Doubling doubling;  // recursive_sparse

    // oktopk
    bool estimated = false;
    bool partitioned = false;
    Regions regions;
    std::vector<SparseVector> sums;  // by owner of a region
    std::vector<SparseVector> kept;  // by owner: its part of the result
    std::vector<EntryMove> moves;
    std::vector<std::size_t> held;  // by rank: entries of the result that it has before the gather
};

class SparseIterations {
public:
    explicit SparseIterations(Params const& params) : params_(params), gradients_(params) {}

    /// The iteration that the draw's index numbers. Pure; costs least when asked for ascending numbers.
    [[nodiscard]] std::shared_ptr<SparseIteration const> at(Draw draw) const;
    [[nodiscard]] Gradients const& gradients() const { return gradients_; }

private:
    /// The state that Ok-Topk carries from one iteration to the next.
    struct OktopkState {
        std::vector<Thresholds> thresholds;  // by rank; the global one is the same on all
        Regions regions;
    };

    [[nodiscard]] SparseIteration make(Draw draw, OktopkState& state) const;
    void oktopk(Draw draw, OktopkState& state, SparseIteration& iteration) const;

    Params params_;
    Gradients gradients_;
    mutable std::mutex mutex_;
    mutable Draw last_draw_;
    mutable OktopkState state_;  // behind the last draw
    mutable std::shared_ptr<SparseIteration const> last_;
};

}  // namespace dlmb::sparse_allreduce
