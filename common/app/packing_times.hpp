// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Of traffic that is packed, sent and unpacked: the time of each, and how near packing comes to a plain copy.
#pragma once

#include "common/record/record.hpp"

#include <string>

namespace dlmb::app {

/// Adds to an ok cell whose phases `pack` and `unpack` were timed beside plain copies
///   time_pack_us, time_unpack_us     medians of these phases, per iteration
///   time_wire_us                     sum of the medians of the phases that send
///   pack_of_copy, unpack_of_copy     time of the plain copy / time of the phase: the share that the phase
///                                    reaches of the bandwidth of a copy between the same buffers
void add_packing_times(record::Record& cell);

/// "# time_wire 69.4 us, time_pack 88.1 us (0.71 of copy bandwidth), time_unpack 65.3 us (0.80 of copy bandwidth)", of
/// the phases that have such figures; empty without.
[[nodiscard]] std::string packing_line(record::Record const& cell);

}  // namespace dlmb::app
