// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Published lists of table sizes and bag sizes, usable by name: --rows mlperf-v1|dcnv2, --pooling dcnv2.
#pragma once

#include "patterns/dlrm_exchange/numbers.hpp"

#include <span>

namespace dlmb::dlrm_exchange {

/// mlperf-v1: Criteo Terabyte as MLPerf Training v0.7 to v2.1 has it, 26 tables, 177,944,275 rows.
/// dcnv2: MLPerf Training v3.0 (DLRM-DCNv2), indices capped at 40 million, 26 tables, 204,184,588 rows.
[[nodiscard]] std::span<NamedNumbers const> published_rows();

/// dcnv2: multi-hot sizes of MLPerf Training v3.0, 214 indices per sample in all.
[[nodiscard]] std::span<NamedNumbers const> published_pooling();

}  // namespace dlmb::dlrm_exchange
