// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How many elements go from one rank to another in each exchange: the matrices of an iteration. Pure functions of the
// parameters; only drawn bag sizes depend on the draw. A bag depends on its table, its sample and the draw only, so the
// same batch is merely split differently over another number of ranks.
//
// With --pack also the orders that pooled rows have in memory. A lookup writes them by table, then sample; they travel
// by rank, sample, table of the sender; an MLP reads them by sample, then table of all ranks.
#pragma once

#include "common/base/philox.hpp"
#include "common/formats/plan/builder.hpp"
#include "patterns/dlrm_exchange/params.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlmb::dlrm_exchange {

/// Bags of the mean size: floor(end * pooling) - floor(begin * pooling), so that nothing is lost where it has a
/// fraction.
[[nodiscard]] std::uint64_t fixed_indices(Millionths pooling, Samples samples);

/// A bag of fixed size L becomes one of 0 to 2 L with equal chance. O(samples).
[[nodiscard]] std::uint64_t drawn_indices(std::size_t table, Millionths pooling, Samples samples, Draw draw);

/// The indices below row `end` when `indices` are spread evenly over `rows` rows: floor(indices * end / rows).
[[nodiscard]] std::uint64_t indices_below(std::uint64_t indices, std::uint64_t end, std::uint64_t rows);

using Counts = std::vector<std::uint64_t>;  // elements to, or from, every rank

class ExchangeSizes {
public:
    explicit ExchangeSizes(Params const& params);

    /// Lengths: local batch of `source` times the shards on `target`, row-wise tables counting on every rank.
    [[nodiscard]] std::uint64_t lengths(std::size_t source, std::size_t target) const {
        return params_.local_batch(source) * features_[target];
    }
    /// Pooled values: batch of `target` times the width of the shards on `source`. Backward is the transpose.
    [[nodiscard]] std::uint64_t pooled(std::size_t source, std::size_t target) const {
        return params_.local_batch(target) * widths_[source];
    }
    /// The sum of pooled(source, target) over all targets.
    [[nodiscard]] std::uint64_t pooled_sent(std::size_t source) const { return params_.batch * widths_[source]; }
    /// Indices that `source` sends to every rank. O(tables), when drawn O(local batch * tables).
    [[nodiscard]] Counts indices_sent(std::size_t source, Draw draw) const;
    /// Indices that every rank sends to `target` when bags are fixed.
    [[nodiscard]] Counts fixed_indices_received(std::size_t target) const;

    /// Values that all ranks gather and scatter for row-wise tables, every rank's batch padded to the largest.
    [[nodiscard]] std::uint64_t row_wise_values() const {
        return params_.padded_local_batch() * params_.ranks * row_wise_width_;
    }
    /// Values in the replicated tables: their gradients are dense.
    [[nodiscard]] std::uint64_t replicated_values() const { return replicated_values_; }
    [[nodiscard]] bool exchanges_indices() const { return has_shards() || row_wise_width_ > 0; }
    [[nodiscard]] bool has_shards() const { return !params_.layout.shards.empty(); }
    /// Shards on a rank, row-wise tables not counted.
    [[nodiscard]] std::uint64_t shards_on(std::size_t rank) const {
        return features_[rank] - params_.layout.row_wise.size();
    }

private:
    [[nodiscard]] std::uint64_t indices_of(std::size_t table, std::size_t source, Draw draw) const;
    /// The part of `indices` of a row-wise table whose rows lie on `rank`.
    [[nodiscard]] std::uint64_t row_share(std::size_t table, std::uint64_t indices, std::size_t rank) const;

    Params params_;
    std::vector<std::vector<std::size_t>> tables_on_;  // by rank: the table of every shard
    Counts features_;                                  // by rank: shards, and all row-wise tables
    Counts widths_;                                    // by rank: columns of its shards
    std::uint64_t row_wise_width_ = 0;
    std::uint64_t replicated_values_ = 0;
};

/// Rows of this rank's shards, of all samples: sent forward, received backward.
[[nodiscard]] RowOrder rows_by_table(Params const& params, ExchangeSizes const& sizes, std::size_t rank);

/// Rows of this rank's samples, of all shards: received forward, sent backward.
[[nodiscard]] RowOrder rows_by_sample(Params const& params, ExchangeSizes const& sizes, std::size_t rank);

}  // namespace dlmb::dlrm_exchange
