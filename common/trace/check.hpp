// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether the ranks of a trace tell the same story.
#pragma once

#include "common/trace/trace.hpp"

#include <string>
#include <vector>

namespace dlmb::trace {

/// What one rank sends and another does not expect, or the other way round, and collectives that are not the same on
/// all ranks of their group; each names ranks, operation and both numbers. Groups of which a member has no file are
/// passed over. At most 20.
[[nodiscard]] std::vector<std::string> mismatches(Trace const& trace);

}  // namespace dlmb::trace
