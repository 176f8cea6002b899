// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of sparse_allreduce, read strictly: after this, nothing can be wrong.
#pragma once

#include "common/base/units.hpp"
#include "patterns/pattern.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace dlmb::sparse_allreduce {

inline constexpr std::uint64_t max_elements = std::uint64_t{1} << 32;  // of one rank

enum class SparseAlgorithm { dense, topk_allgather, gtopk, recursive_sparse, oktopk };

/// Where the largest gradients lie: `picks` of them among the first `indices` of all indices, as fractions.
struct SkewShare {
    double picks = 1;
    double indices = 1;
};

struct Params {
    SparseAlgorithm algorithm = SparseAlgorithm::oktopk;
    std::uint64_t elements = 0;  // gradients of a rank
    std::size_t k = 0;           // of these that are picked
    std::uint64_t crowded = 0;   // the first indices, among which skew.picks of the picks are
    SkewShare skew;
    std::size_t ranks = 1;
    bool balanced = true;                 // regions by picks, not by indices, and the gathered parts even
    double balance_above = 4;             // of the largest part over the mean: from there on parts are evened
    std::uint32_t threshold_every = 32;   // iterations
    std::uint32_t boundaries_every = 64;  // iterations
    std::size_t bucket = 4;               // peers whose messages are in flight together
    Nanoseconds select_ns = 0;            // comparing all gradients with a threshold
    Nanoseconds estimate_ns = 0;          // finding the k-th largest of them
};

[[nodiscard]] std::span<ParameterInfo const> parameter_infos();

/// Throws UsageError naming the parameters and their values.
[[nodiscard]] Params read_params(Parameters const& parameters, WorldShape const& world);

}  // namespace dlmb::sparse_allreduce
