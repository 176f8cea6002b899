// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether ranks have to take turns on processing units, which decides how they may wait for each other.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

namespace dlmb {

/// Collective. On any node the ranks outnumber the processing units that at least one of them may run on. Ranks bound
/// to a unit each are not oversubscribed. The same answer on every rank.
[[nodiscard]] bool oversubscribed(Bootstrap& bootstrap);

/// Collective; all ranks have the same policy. automatic: yield where the ranks are oversubscribed.
[[nodiscard]] bool should_yield(YieldPolicy policy, Bootstrap& bootstrap);

}  // namespace dlmb
