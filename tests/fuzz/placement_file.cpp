// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Files of dlmb_dlrm_exchange: --placement file:PATH and lists file:PATH. The first byte chooses sharding and ranks.
#include "patterns/dlrm_exchange/layout.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <array>

namespace dlmb::fuzz {
namespace {

void place(std::string const& path, dlrm_exchange::Sharding sharding, std::size_t ranks) {
    static std::array<dlrm_exchange::PooledTable, 3> const tables{{{1000, 64}, {10, 1}, {5, 16}}};
    PlacementRule const rule{.kind = PlacementRule::Kind::file, .path = path};
    dlrm_exchange::ShardLayout const layout =
        dlrm_exchange::make_layout(tables, {.sharding = sharding, .placement = rule}, ranks);
    std::array<std::uint64_t, 3> columns{};
    for (auto const& shard : layout.shards) {
        require(shard.rank < ranks, "a shard on a rank that is not there");
        columns.at(shard.table) += shard.width;
    }
    for (auto const* const whole : {&layout.row_wise, &layout.replicated}) {
        for (std::size_t const table : *whole) {
            columns.at(table) += tables.at(table).dim;
        }
    }
    for (std::size_t table = 0; table < tables.size(); ++table) {
        require(columns.at(table) == tables.at(table).dim, "a table is not placed once");
    }
}

}  // namespace

void placement_file(std::string_view input) {
    unsigned const choice = take_byte(input);
    static MemoryFile const file;
    file.hold(input);
    constexpr std::array shardings{dlrm_exchange::Sharding::table, dlrm_exchange::Sharding::row,
                                   dlrm_exchange::Sharding::column, dlrm_exchange::Sharding::mixed};
    (void)accepts([&] { place(file.path(), shardings.at(choice & 3U), 1 + (choice >> 2U & 7U)); });
    dlrm_exchange::NumberRule const rule{"--pooling", false, 0, dlrm_exchange::max_pooling, {}};
    (void)accepts([&] { (void)dlrm_exchange::read_numbers("file:" + file.path(), rule); });
}

}  // namespace dlmb::fuzz
