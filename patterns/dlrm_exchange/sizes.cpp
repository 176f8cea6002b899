// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/sizes.hpp"

namespace dlmb::dlrm_exchange {
namespace {

std::uint64_t fixed_before(Millionths pooling, std::uint64_t samples) {
    return pooling / one * samples + pooling % one * samples / one;
}

}  // namespace

std::uint64_t fixed_indices(Millionths pooling, Samples samples) {
    return fixed_before(pooling, samples.end) - fixed_before(pooling, samples.begin);
}

std::uint64_t drawn_indices(std::size_t table, Millionths pooling, Samples samples, Draw draw) {
    auto const stream = stream_id(Purpose::bag_size, 0);
    std::uint64_t total = 0;
    PhiloxBlock words{};
    for (std::uint64_t sample = samples.begin; sample < samples.end; ++sample) {
        if (sample == samples.begin || sample % words.size() == 0) {
            words = philox({draw.index, static_cast<std::uint32_t>(sample / words.size()),
                            static_cast<std::uint32_t>(table), stream},
                           draw.seed);
        }
        std::uint64_t const mean = fixed_indices(pooling, {sample, sample + 1});
        total += below(words.at(sample % words.size()), static_cast<std::uint32_t>(2 * mean + 1));
    }
    return total;
}

std::uint64_t indices_below(std::uint64_t indices, std::uint64_t end, std::uint64_t rows) {
    // In two parts, because indices * end may need more than 64 bits; rows and end have 32.
    return indices / rows * end + indices % rows * end / rows;
}

ExchangeSizes::ExchangeSizes(Params const& params)
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

Counts ExchangeSizes::indices_sent(std::size_t source, Draw draw) const {
    Counts counts(params_.ranks);
    Shard const* before = nullptr;
    std::uint64_t of_table = 0;  // drawn once, however many slices, one behind the other, need it
    for (Shard const& shard : params_.layout.shards) {
        if (before == nullptr || before->table != shard.table) {
            of_table = indices_of(shard.table, source, draw);
        }
        counts[shard.rank] += of_table;
        before = &shard;
    }
    for (std::size_t const table : params_.layout.row_wise) {
        std::uint64_t const indices = indices_of(table, source, draw);
        for (std::size_t rank = 0; rank < params_.ranks; ++rank) {
            counts[rank] += row_share(table, indices, rank);
        }
    }
    return counts;
}

Counts ExchangeSizes::fixed_indices_received(std::size_t target) const {
    Counts counts(params_.ranks);
    for (std::size_t source = 0; source < params_.ranks; ++source) {
        Samples const samples = params_.samples_of(source);
        for (std::size_t const table : tables_on_[target]) {
            counts[source] += fixed_indices(params_.tables[table].pooling, samples);
        }
        for (std::size_t const table : params_.layout.row_wise) {
            counts[source] += row_share(table, fixed_indices(params_.tables[table].pooling, samples), target);
        }
    }
    return counts;
}

std::uint64_t ExchangeSizes::indices_of(std::size_t table, std::size_t source, Draw draw) const {
    Samples const samples = params_.samples_of(source);
    Millionths const pooling = params_.tables[table].pooling;
    return params_.bags == Bags::fixed ? fixed_indices(pooling, samples) : drawn_indices(table, pooling, samples, draw);
}

std::uint64_t ExchangeSizes::row_share(std::size_t table, std::uint64_t indices, std::size_t rank) const {
    std::uint64_t const rows = params_.tables[table].rows;
    return indices_below(indices, rows_before(rows, rank + 1, params_.ranks), rows) -
           indices_below(indices, rows_before(rows, rank, params_.ranks), rows);
}

RowOrder rows_by_table(Params const& params, ExchangeSizes const& sizes, std::size_t rank) {
    std::uint64_t const tables = sizes.shards_on(rank);
    RowOrder order{tables * params.batch, {}, {}, {}};
    for (std::size_t peer = 0; peer < params.ranks; ++peer) {
        std::uint64_t const samples = params.local_batch(peer);
        std::uint64_t const first = params.samples_before(peer);
        order.rank_rows.push_back(samples * tables);
        for (std::uint64_t table = 0; table < tables && samples > 0; ++table) {
            order.moves.push_back({.rows = samples,
                                   .tensor = table * params.batch + first,
                                   .packed = first * tables + table,
                                   .packed_step = tables});
        }
    }
    return order;
}

RowOrder rows_by_sample(Params const& params, ExchangeSizes const& sizes, std::size_t rank) {
    std::uint64_t const samples = params.local_batch(rank);
    std::uint64_t const all_tables = params.layout.shards.size();
    RowOrder order{samples * all_tables, {}, {}, {}};
    std::uint64_t before = 0;  // shards of the ranks before
    for (std::size_t peer = 0; peer < params.ranks; ++peer) {
        std::uint64_t const tables = sizes.shards_on(peer);
        order.rank_rows.push_back(samples * tables);
        for (std::uint64_t sample = 0; sample < samples && tables > 0; ++sample) {
            order.moves.push_back(
                {.rows = tables, .tensor = sample * all_tables + before, .packed = samples * before + sample * tables});
        }
        before += tables;
    }
    return order;
}

}  // namespace dlmb::dlrm_exchange
