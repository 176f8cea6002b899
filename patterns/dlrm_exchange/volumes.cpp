// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/volumes.hpp"

#include "patterns/dlrm_exchange/bags.hpp"

namespace dlmb::dlrm_exchange {

Volumes::Volumes(Params const& params)
    : params_(params), tables_on_(params.ranks), features_(params.ranks, params.layout.row_wise.size()),
      widths_(params.ranks) {
    for (Shard const& shard : params.layout.shards) {
        tables_on_[shard.rank].push_back(shard.table);
        ++features_[shard.rank];
        widths_[shard.rank] += shard.width;
    }
    for (std::size_t const table : params.layout.row_wise) {
        row_wise_width_ += params.tables[table].dim;
    }
    for (std::size_t const table : params.layout.replicated) {
        replicated_values_ += params.tables[table].rows * params.tables[table].dim;
    }
}

Counts Volumes::indices_sent(std::size_t source, Draw draw) const {
    Counts counts(params_.ranks);
    Counts of_table(params_.tables.size());  // drawn once, however many slices need it
    std::vector<bool> known(params_.tables.size());
    for (Shard const& shard : params_.layout.shards) {
        if (!known[shard.table]) {
            of_table[shard.table] = indices_of(shard.table, source, draw);
            known[shard.table] = true;
        }
        counts[shard.rank] += of_table[shard.table];
    }
    for (std::size_t const table : params_.layout.row_wise) {
        std::uint64_t const indices = indices_of(table, source, draw);
        for (std::size_t rank = 0; rank < params_.ranks; ++rank) {
            counts[rank] += row_share(table, indices, rank);
        }
    }
    return counts;
}

Counts Volumes::fixed_indices_received(std::size_t target) const {
    Counts counts(params_.ranks);
    for (std::size_t source = 0; source < params_.ranks; ++source) {
        Samples const samples{params_.samples_before(source), params_.samples_before(source + 1)};
        for (std::size_t const table : tables_on_[target]) {
            counts[source] += fixed_indices(params_.tables[table].pooling, samples);
        }
        for (std::size_t const table : params_.layout.row_wise) {
            counts[source] += row_share(table, fixed_indices(params_.tables[table].pooling, samples), target);
        }
    }
    return counts;
}

std::uint64_t Volumes::indices_of(std::size_t table, std::size_t source, Draw draw) const {
    Samples const samples{params_.samples_before(source), params_.samples_before(source + 1)};
    Millionths const pooling = params_.tables[table].pooling;
    return params_.bags == Bags::fixed ? fixed_indices(pooling, samples) : drawn_indices(table, pooling, samples, draw);
}

std::uint64_t Volumes::row_share(std::size_t table, std::uint64_t indices, std::size_t rank) const {
    std::uint64_t const rows = params_.tables[table].rows;
    return indices_below(indices, rows_before(rows, rank + 1, params_.ranks), rows) -
           indices_below(indices, rows_before(rows, rank, params_.ranks), rows);
}

}  // namespace dlmb::dlrm_exchange
