// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The gradients that a rank adds up in one training iteration (its own and what it kept back before), drawn as a
// function of seed, iteration, rank and index. Magnitudes have an exponential tail: P(|g| > x) is w e^-x, with a weight
// w that is larger for the crowded indices. Only what may be picked is drawn for a plan: 2k + 64 gradients, each larger
// than all others. The others are there for tests and benchmarks that select from all.
//
// Where the large ones lie is drawn anew in each iteration; their magnitudes are stratified, so that their distribution
// hardly changes. That is what Ok-Topk relies on when it uses a threshold again.
//
// Values are multiples of a power of two so coarse that a sum over all ranks is exact in fp32 in any order. So every
// algorithm must give the same bits.
#pragma once

#include "common/base/philox.hpp"
#include "patterns/sparse_allreduce/params.hpp"
#include "patterns/sparse_allreduce/sparse_vector.hpp"

#include <cstdint>
#include <vector>

namespace dlmb::sparse_allreduce {

class Gradients {
public:
    explicit Gradients(Params const& params);

    /// All that are larger than large_from(), at least k.
    [[nodiscard]] SparseVector large(Rank rank, Draw draw) const;
    /// All `elements`.
    [[nodiscard]] std::vector<float> all(Rank rank, Draw draw) const;
    [[nodiscard]] double large_from() const { return static_cast<double>(floor_) * unit_; }

private:
    [[nodiscard]] float value_of(std::uint64_t units, bool negative) const;

    Params params_;
    std::uint64_t large_ = 0;  // gradients
    double unit_ = 1;          // all values are multiples of it
    std::uint64_t floor_ = 0;  // in units
};

}  // namespace dlmb::sparse_allreduce
