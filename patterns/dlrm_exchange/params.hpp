// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of dlrm_exchange, read strictly and checked against the world: after this, nothing can be wrong.
#pragma once

#include "common/formats/plan/world.hpp"
#include "patterns/dlrm_exchange/layout.hpp"
#include "patterns/pattern.hpp"
#include "patterns/readers.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::dlrm_exchange {

/// Samples [begin, end) of the whole batch.
struct Samples {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// fixed: a table's bags have its mean size; uniform: each bag is drawn from 0 to twice the mean.
enum class Bags { fixed, uniform };

struct Params {
    std::size_t ranks = 1;
    std::uint64_t batch = 0;  // samples of all ranks
    std::vector<PooledTable> tables;
    ShardLayout layout;
    Element forward_element = Element::fp32;
    Element backward_element = Element::fp32;
    Element index_element = Element::int64;
    Element length_element = Element::int32;
    Element dense_element = Element::fp32;
    Bags bags = Bags::fixed;
    bool weighted = false;     // an fp32 weight travels with every index
    std::uint64_t splits = 0;  // int64 numbers per peer that announce the sizes of the other exchanges
    std::uint64_t bottom_parameters = 0;
    std::uint64_t top_parameters = 0;  // top MLP and cross layers
    Nanoseconds lookup_ns = 0;
    bool overlap = true;
    Pack pack = Pack::none;  // who moves pooled rows

    /// Samples of the ranks before `rank`: the first batch mod ranks ranks have one more.
    [[nodiscard]] std::uint64_t samples_before(std::size_t rank) const {
        return batch / ranks * rank + (rank < batch % ranks ? rank : batch % ranks);
    }
    [[nodiscard]] Samples samples_of(std::size_t rank) const {
        return {samples_before(rank), samples_before(rank + 1)};
    }
    [[nodiscard]] std::uint64_t local_batch(std::size_t rank) const {
        return samples_before(rank + 1) - samples_before(rank);
    }
    /// The padded batch of every rank where a collective needs equal parts.
    [[nodiscard]] std::uint64_t padded_local_batch() const { return (batch + ranks - 1) / ranks; }
};

[[nodiscard]] std::span<ParameterInfo const> parameter_infos();

/// Throws UsageError naming the parameters and their values.
[[nodiscard]] Params read_params(Parameters const& parameters, WorldShape const& world);

}  // namespace dlmb::dlrm_exchange
