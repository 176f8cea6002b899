// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Traffic that a file has: the plans of a trace (dlmb_plan import) or of another program (--plan jsonl), measured like
// those of a pattern.
#pragma once

#include "patterns/pattern.hpp"

namespace dlmb::run::replay {

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::run::replay
