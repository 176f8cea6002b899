// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The points whose cells are visited in the same rounds: one, or with --rounds-over sweep as many as fit in memory.
#pragma once

#include "common/app/batch_room.hpp"
#include "common/app/point.hpp"

#include <deque>

namespace dlmb::app {

class Batch {
public:
    explicit Batch(LaunchContext& launch) : launch_(launch) {}

    /// Collective, as run() is. Prepares a point, whose variant must outlive it, and measures what is ready once no
    /// other point shall join it.
    void add(Variant const& variant, MemoryKind memory);
    /// Measures what is ready, and forgets it.
    void run();

private:
    void prepare(Variant const& variant, MemoryKind memory, Pattern const& pattern, std::vector<Entry> entries);
    LaunchContext& launch_;
    std::deque<Point> points_;
    Load ready_;
    Room room_;
};

}  // namespace dlmb::app
