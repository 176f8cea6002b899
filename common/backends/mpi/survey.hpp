// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What all ranks have to know about each other's plans before any of them is translated: a native call must be made by
// all members of a group or by none.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/mpi/limits.hpp"
#include "common/backends/mpi/methods.hpp"

#include <string>

namespace dlmb::mpi {

struct Survey {
    bool concurrent = false;  // on some rank steps overlap: blocking calls could wait in a circle
    bool reduces = false;     // some rank has an allreduce or reduce_scatter
    bool large = false;       // some exchange of some rank has a count or displacement beyond int
    std::string refusal;      // why some rank cannot run its plan; empty: all can
};

/// This rank's own plan. `channels`: how many channels fit the tags of this library.
[[nodiscard]] Survey survey(Plan const& plan, Method const& method, Limits const& limits, int channels);

/// Collective. The same answer on every rank; the refusal is that of the lowest rank that has one.
[[nodiscard]] Survey agree(Survey const& own, Bootstrap& bootstrap);

}  // namespace dlmb::mpi
