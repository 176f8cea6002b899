// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Time and memory of one rank's plan (setup_of + build) of deepseek-v3 at 8, 512 and 16384 ranks, and of low_latency at
// 1024. What the peers send is computed outside the timed part, as a launch receives it from them. Memory is the
// high-water mark of this process.
#include "common/base/clock.hpp"
#include "common/base/statistics/order_statistics.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"
#include "tests/benchmarks/peak_memory.hpp"
#include "tests/unit/patterns/build_one.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

namespace dlmb {
namespace {

using benchmark::peak_mib;
using statistics::median;

/// Processor time of this thread: what the work costs, however busy the machine is.
double cpu_ms() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

void print_row(std::string const& preset, std::string const& wire, int ranks) {
    WorldShape const world{ranks, 8};
    auto const& type = moe_alltoall::type();
    auto const pattern = type.make(resolve(type, preset, {{"wire", wire}}), world);
    Rank const me = ranks / 2 + 1;
    Draw const draw{1, 0};
    std::vector<SetupCounts> const received = received_counts(*pattern, pattern->setup_of(me, draw), draw);

    std::vector<double> wall;
    std::vector<double> set_up;
    std::vector<double> built;
    std::size_t blocks = 0;
    for (int i = 0; i < 9; ++i) {
        Nanoseconds const start = now_ns();
        double const cpu_start = cpu_ms();
        RankSetup const own = pattern->setup_of(me, draw);
        double const cpu_middle = cpu_ms();
        Plan const plan = pattern->build(me, draw, own, received);
        built.push_back(cpu_ms() - cpu_middle);
        set_up.push_back(cpu_middle - cpu_start);
        wall.push_back(static_cast<double>(now_ns() - start) / 1e6);
        blocks = 0;
        for (Step const& step : plan.steps) {
            blocks += sent_blocks(step.operation).size();
        }
    }
    fmt::print("{:<12} {:>6} {:>8} {:>10.2f} {:>18.2f} {:>15.3f} {:>12.1f}\n", wire, ranks, blocks, median(wall),
               median(set_up), median(built), peak_mib());
    std::fflush(stdout);  // a line takes seconds: the peers' sends are computed first
}

}  // namespace
}  // namespace dlmb

int main() {
    try {
        fmt::print("deepseek-v3, 4096 tokens per rank (low_latency: 128), one rank's plan; medians of 9\n");
        fmt::print("{:<12} {:>6} {:>8} {:>10} {:>18} {:>15} {:>12}\n", "wire", "ranks", "blocks", "wall (ms)",
                   "set-up cpu (ms)", "build cpu (ms)", "peak (MiB)");
        for (int const ranks : {8, 512, 16384}) {
            for (char const* wire : {"expanded", "node_dedup"}) {
                dlmb::print_row("deepseek-v3", wire, ranks);
            }
        }
        dlmb::print_row("deepep-low-latency", "low_latency", 1024);
        return 0;
    } catch (std::exception const& error) {
        fmt::print(stderr, "plan_building: error: {}\n", error.what());
        return 1;
    }
}
