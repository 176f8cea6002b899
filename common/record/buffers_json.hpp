// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a cell line says about the buffers: caches, contents, pages. Both directions.
#pragma once

#include "common/record/json_parts.hpp"
#include "common/record/record.hpp"

namespace dlmb::record {

[[nodiscard]] Json cache_json(measure::CacheUse const& cache);
/// Null where the host has no pages of it.
[[nodiscard]] Json pages_json(std::optional<HostPages> const& pages);

/// From a cell line. Before 1.2 all cells had one set of buffers with random contents, and nobody looked at pages.
[[nodiscard]] measure::CacheUse cache_from(Json const& line);
[[nodiscard]] measure::Fill fill_from(Json const& line);
[[nodiscard]] std::optional<HostPages> pages_from(Json const& line);

}  // namespace dlmb::record
