// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/tick_scale.hpp"

namespace dlmb {
namespace {

struct Start {
    Ticks ticks = read_ticks();
    Nanoseconds time_ns = now_ns();
};
Start const process_start;

}  // namespace

TickScale::TickScale()
    : ticks_(read_ticks()), time_ns_(now_ns()),
      ns_per_tick_(ticks_ == process_start.ticks ? 1.0
                                                 : static_cast<double>(time_ns_ - process_start.time_ns) /
                                                       static_cast<double>(ticks_ - process_start.ticks)) {}

Nanoseconds TickScale::time_of(Ticks ticks) const {
    auto const since = static_cast<std::int64_t>(ticks - ticks_);
    return time_ns_ + static_cast<Nanoseconds>(static_cast<double>(since) * ns_per_tick_);
}

}  // namespace dlmb
