// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The bytes from each rank to each in a skewed all-to-all: every rank sends ranks x message size in all, and a skew
// says how it is shared out; by distance it is rounded down to 16 B for each peer, as nccl-tests does. And the parts of
// a collective with named parts: the row of rank 0. Pure: any rank can ask for any row or column, so nothing has to be
// exchanged before plans are built.
#pragma once

#include "common/sizes/weights.hpp"
#include "patterns/collective/collective.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dlmb::collective {

/// `total` in parts that are proportional to `weights` (each from 2^-40 to 2^20), by largest remainder: the parts are
/// whole and add up exactly; of equal remainders the first gets more. `total` is at most 2^62.
[[nodiscard]] std::vector<std::uint64_t> apportion(std::uint64_t total, std::span<double const> weights);

/// The sides of a grid of so many ranks, as near to each other as their prime factors allow, the longest first, as
/// MPI_Dims_create has them.
[[nodiscard]] std::vector<int> grid_of(int ranks, int dimensions);

class ByteMatrix {
public:
    /// Reads the counts file where the skew names one.
    ByteMatrix(Params const& params, WorldShape const& world);

    /// Bytes from `source` to every rank, whole elements.
    [[nodiscard]] std::vector<Bytes> row(Rank source, std::uint64_t seed) const;
    /// Bytes to `me` from every rank. Costs one row for each node (intra_host) or rank (file), otherwise one row.
    [[nodiscard]] std::vector<Bytes> column(Rank me, std::uint64_t seed) const;

private:
    [[nodiscard]] bool same_row(Rank a, Rank b) const;
    /// As the program alltoallv_perf of nccl-tests computes it, its rounding to 16 B included.
    [[nodiscard]] Bytes by_distance(Rank source, Rank destination) const;
    /// One message to each neighbour, as osu_neighbor_alltoallv sends them.
    [[nodiscard]] Bytes to_neighbor(Rank source, Rank destination) const;
    [[nodiscard]] bool is_skewed() const { return !spread_ && !neighbors_; }
    [[nodiscard]] Bytes unskewed(Rank source, Rank destination) const {
        return spread_ ? by_distance(source, destination) : to_neighbor(source, destination);
    }

    WorldShape world_;
    Weights weights_;
    std::optional<double> spread_;
    std::optional<Neighborhood> neighbors_;
    std::vector<int> grid_;  // of neighbours
    Bytes element_bytes_;
    std::uint64_t row_elements_;
};

}  // namespace dlmb::collective
