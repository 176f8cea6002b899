// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <vector>

namespace dlmb {

/// Collective. By world rank, whether it is on this rank's node.
[[nodiscard]] std::vector<bool> ranks_of_this_node(Bootstrap& bootstrap);

}  // namespace dlmb
