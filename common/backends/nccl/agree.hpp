// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One answer for all ranks.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <string>

namespace dlmb::nccl {

/// Collective. The reason of the lowest rank that has one; empty: no rank has one.
[[nodiscard]] std::string first_reason(Bootstrap& bootstrap, std::string const& mine);

}  // namespace dlmb::nccl
