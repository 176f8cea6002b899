// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The summary of a trace, for people and for programs.
#pragma once

#include "common/tools/plan/trace.hpp"

#include <string>

namespace dlmb::trace {

/// {"format", "ranks", "complete", "why_not", "operations": [{"rank", "operation", "group_size", "dtype", "count",
/// "bytes"}]}; an unknown group size is null. Where there are some, also "notes": [{"text", "count"}] and "progress":
/// [{"rank", "group", "last_enqueued", "last_started", "last_completed", "open": [{"number", "call", "state"}]}].
/// Throws UsageError where sums are beyond 2^63 - 1.
[[nodiscard]] std::string summary_json(Trace const& trace);

/// Tables of the same over all ranks, with sizes of messages, shares of time and the imbalance of ranks.
[[nodiscard]] std::string summary_text(Trace const& trace);

}  // namespace dlmb::trace
