// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// With --pack: which token each row is, and the orders that rows have in memory. Tokens lie in order; rows travel by
// destination rank, then expert, then token; an expert's rank has them by expert, then source, then token. Of what
// comes back a token has top-k rows, one behind the other.
#pragma once

#include "common/formats/plan/builder.hpp"
#include "patterns/moe_alltoall/params.hpp"
#include "patterns/moe_alltoall/routing.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::moe_alltoall {

/// The rows that one source sends one rank in one layer.
struct RankRows {
    std::vector<std::uint64_t> expert_rows;  // per expert of that rank, in the order of its experts_of()
    std::vector<std::uint64_t> tokens;       // of each row, as they travel
};

/// By destination rank of the source's group.
[[nodiscard]] std::vector<RankRows> rows_of_tokens(Params const& params, Routing const& routing, Rank source, Draw draw,
                                                   std::uint32_t layer);

/// Behind what dispatch_hops counts; for every layer in turn.
void append_rows(RankRows const& rows, SetupCounts& setup);

/// The four orders of a layer's rows.
struct LayerRows {
    RowOrder tokens;          // source: from where dispatched rows are copied; a token goes to several ranks
    RowOrder at_experts;      // to where those that arrive are copied
    RowOrder of_experts;      // the same places, from where rows go back
    RowOrder back_at_tokens;  // source: where those arrive
};
/// `own`, `received`: as for Pattern::build(). By layer.
[[nodiscard]] std::vector<LayerRows> layer_rows(Params const& params, std::span<SetupCounts const> own,
                                                std::span<SetupCounts const> received);

}  // namespace dlmb::moe_alltoall
