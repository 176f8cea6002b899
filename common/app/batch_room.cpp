// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/batch_room.hpp"

namespace dlmb::app {

bool fits_beside(Load const& ready, Load const& next, Room const& room, Bytes host_free_now) {
    return host_free_now >= room.host_free / 2 && ready.pools + next.pools <= room.pool_limit &&
           ready.compiled_steps + next.compiled_steps <= most_steps_of_a_batch;
}

}  // namespace dlmb::app
