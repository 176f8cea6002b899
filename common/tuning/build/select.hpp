// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Backends against each other: the heats of the scope "select", where the default is the policy's baseline.
#pragma once

#include "common/tuning/build/decision.hpp"

namespace dlmb::tuning {

/// Each backend competes by its own default method; what its method rules gain on top is theirs. Places with one
/// backend, or without the baseline of their memory, have no heat.
[[nodiscard]] std::vector<Heat> backend_heats(std::vector<Observation> const& search,
                                              std::vector<Observation> const& confirm, Policy const& policy);

}  // namespace dlmb::tuning
