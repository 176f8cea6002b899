// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The samples of a cell as the figures of its result.
#pragma once

#include "common/formats/record/cell_result.hpp"

#include <optional>
#include <span>

namespace dlmb::measure {

/// All zero for no samples.
[[nodiscard]] record::TimeSummary summarize(std::span<Nanoseconds const> samples);

/// `samples` in the order of measuring, sample i of draw i mod `draws`. nullopt for fewer than two samples, or ten of
/// a draw.
[[nodiscard]] std::optional<record::SampleSeries> describe_series(std::span<Nanoseconds const> samples,
                                                                  std::size_t draws);

/// The rank that was slowest most often; the lowest such rank when several were. `slowest[i]`: rank of sample i.
[[nodiscard]] record::Straggler find_straggler(std::span<Rank const> slowest, int ranks);

}  // namespace dlmb::measure
