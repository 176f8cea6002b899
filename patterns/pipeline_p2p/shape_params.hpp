// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters that decide the order of a schedule, and which numbers each schedule takes.
#pragma once

#include "patterns/pattern.hpp"
#include "patterns/pipeline_p2p/layout.hpp"

namespace dlmb::pipeline_p2p {

/// Fills all but `ranks`, which must be known, and `overlapped`. Throws UsageError.
void read_shape(Parameters const& parameters, Shape& shape);

/// What handshake_data cannot run. Throws UsageError.
void check_handshakes(Shape const& shape);

}  // namespace dlmb::pipeline_p2p
