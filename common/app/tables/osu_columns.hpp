// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The columns of OSU Micro-Benchmarks 7 where they are not those of a latency: osu_bw and osu_bibw, osu_mbw_mr, and the
// non-blocking collectives.
#pragma once

#include "common/record/record.hpp"

#include <optional>
#include <string>

namespace dlmb::app {

struct OsuColumns {
    std::string names;   // a whole line
    std::string values;  // without its end
};

/// Of a cell that is ok and has a mean: bandwidth in 10^6 B/s, messages per second over all pairs, times in us, and
/// overlap in per cent, max(0, 1 - (overall - compute) / pure communication), all from means. Nothing where the cell
/// has the columns of a latency.
[[nodiscard]] std::optional<OsuColumns> osu_columns(record::Record const& cell, Bytes message_size);

}  // namespace dlmb::app
