// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks must choose by the same table.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <string>

namespace dlmb::tuned {

/// Collective. Throws UsageError on all ranks, naming who has which, unless all bring the same digest.
void require_one_digest(std::string const& digest, Bootstrap& bootstrap);

}  // namespace dlmb::tuned
