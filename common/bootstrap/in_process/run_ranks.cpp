// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/run_ranks.hpp"

#include "common/bootstrap/in_process/in_process_bootstrap.hpp"

#include <fmt/core.h>

#include <thread>

namespace dlmb::in_process {
namespace {

void run_rank(World& world, Rank rank, RankBody const& body) noexcept {
    try {
        InProcessBootstrap bootstrap(world, rank);
        body(bootstrap);
    } catch (...) {
        world.fail(rank, std::current_exception());
    }
}

}  // namespace

void run_ranks(int ranks, int ranks_per_node, RankBody const& body) {
    if (ranks < 1 || ranks_per_node < 0) {
        throw UsageError(fmt::format("{} ranks with {} per node: expected at least one rank and no negative number",
                                     ranks, ranks_per_node));
    }
    World world(ranks, ranks_per_node);
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(ranks));
    for (Rank rank = 0; rank < ranks; ++rank) {
        try {
            threads.emplace_back([&world, &body, rank] { run_rank(world, rank, body); });
        } catch (...) {  // no more threads: those that run must not wait for this rank
            world.fail(rank, std::current_exception());
            break;
        }
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    world.rethrow_first_failure();
}

}  // namespace dlmb::in_process
