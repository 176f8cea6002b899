// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The steps of one iteration. Labels: lengths[.splits], indices[.weights], lookup, forward[.row], dense_top,
// backward[.row], dense_bottom[.tables]. README.md draws what waits for what.
#pragma once

#include "patterns/dlrm_exchange/volumes.hpp"

namespace dlmb::dlrm_exchange {

/// Indices that `me` sends to and receives from every rank.
struct IndexCounts {
    Counts sent;
    Counts received;
};

[[nodiscard]] Plan assemble(Params const& params, Volumes const& volumes, Rank me, IndexCounts const& indices);

/// The element in which partial sums of row-wise tables are reduced: fp16 where pooled rows are fp8, which has too few
/// bits to be summed in (torchrec's get_qcomm_codecs_registry falls back alike).
[[nodiscard]] Element reduced_element(Params const& params);

}  // namespace dlmb::dlrm_exchange
