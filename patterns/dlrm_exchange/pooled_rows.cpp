// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/pooled_rows.hpp"

namespace dlmb::dlrm_exchange {

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
