// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks as threads of this process: how a program or a test runs without a launcher.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <functional>

namespace dlmb::in_process {

using RankBody = std::function<void(Bootstrap&)>;

/// Runs `body` on `ranks` threads, each with its own Bootstrap, and returns when all are done. `ranks_per_node`
/// pretends that ranks sit in blocks on several nodes; 0: all on one.
///
/// When a rank throws, the others leave with PeerFailed at their next waiting call, and the first exception is thrown
/// here: an Error or a foreign exception as Error with the rank in its text, UsageError and OutputError as they were.
void run_ranks(int ranks, int ranks_per_node, RankBody const& body);
inline void run_ranks(int ranks, RankBody const& body) {
    run_ranks(ranks, 0, body);
}

}  // namespace dlmb::in_process
