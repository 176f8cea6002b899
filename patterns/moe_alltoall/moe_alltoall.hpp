// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Expert-parallel mixture-of-experts layers: two ragged all-to-alls around the experts.
//
//   all ranks learn how many rows every expert gets                                     count_exchange
//   for each token t of rank r, each destination d in wire(route(t)):  send row(t) to d  dispatch
//   every owner works on the rows it received                                           (no traffic)
//   the same rows travel back                                                           combine
//
// Presets, byte formulas and sources: README.md. Not here: how uneven the experts are (common/sizes), time, any
// communication library.
#pragma once

#include "patterns/pattern.hpp"

namespace dlmb::moe_alltoall {

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::moe_alltoall
