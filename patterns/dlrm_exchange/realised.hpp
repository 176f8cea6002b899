// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The figures of a draw: a vector of counts per rank that may be summed over ranks, and what the sums mean.
#pragma once

#include "patterns/dlrm_exchange/volumes.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::dlrm_exchange {

/// One source's indices: what it sends in its own place, then what every rank receives from it.
[[nodiscard]] std::vector<std::uint64_t> tally(Params const& params, std::size_t source, Counts const& indices_sent);

[[nodiscard]] std::vector<Statistic> realised(Params const& params, Volumes const& volumes,
                                              std::span<std::uint64_t const> summed);

}  // namespace dlmb::dlrm_exchange
