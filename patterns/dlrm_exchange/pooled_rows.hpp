// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// With --pack: the orders that pooled rows have in memory. A lookup writes them by table, then sample; they travel by
// rank, sample, table of the sender; an MLP reads them by sample, then table of all ranks.
#pragma once

#include "common/plan/builder.hpp"
#include "patterns/dlrm_exchange/sizes.hpp"

namespace dlmb::dlrm_exchange {

/// Rows of this rank's shards, of all samples: sent forward, received backward.
[[nodiscard]] RowOrder rows_by_table(Params const& params, ExchangeSizes const& sizes, std::size_t rank);

/// Rows of this rank's samples, of all shards: received forward, sent backward.
[[nodiscard]] RowOrder rows_by_sample(Params const& params, ExchangeSizes const& sizes, std::size_t rank);

}  // namespace dlmb::dlrm_exchange
