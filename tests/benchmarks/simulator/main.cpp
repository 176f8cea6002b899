// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages per second of the simulator, seconds to make the program (plans and lowering) and to run it, and memory, at
// 1024, 4096 and 16384 ranks: allreduce of 1 MiB by each algorithm, the dispatch of an MoE layer in groups of 256
// ranks, and the same over all ranks (33 million messages at 16384); at 64, 256 and 1024 ranks an all-to-all that
// shares the links of a torus. Seconds are those of the processor. In a ring the ranks of a node stand for all: the
// rate is of the messages that were simulated. A process for each case, so that the high-water mark of memory is its
// own.
//
//     simulator_speed [CASE RANKS]
#include "common/base/units.hpp"
#include "common/formats/plan/world.hpp"
#include "common/tools/predict/network/link_network.hpp"
#include "common/tools/predict/network/topology.hpp"
#include "common/tools/predict/simulator/lower.hpp"
#include "common/tools/predict/simulator/simulation.hpp"
#include "tests/benchmarks/peak_memory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <exception>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace dlmb::predict {
namespace {

constexpr std::array<std::string_view, 6> cases{"recursive_doubling", "knomial",  "ring",
                                                "dispatch",           "exchange", "torus"};
constexpr int ranks_per_node = 8;
constexpr std::array<int, 3> rank_counts{1024, 4096, 16384};
constexpr std::array<int, 3> rank_counts_of_torus{64, 256, 1024};
constexpr int most_exact_ranks = 256;  // above that rates are computed less often, within 5 % of a message's time

Machine cluster() {
    Machine machine = uniform_machine({2'000'000, 300'000, 100'000, 40'000, 0});
    machine.ranks_per_node = ranks_per_node;
    machine.level(Level::node).front().parameters = {500'000, 200'000, 0, 5'000, 0};
    machine.reduce_per_byte = 20'000;
    return machine;
}

Machine torus_machine() {
    Machine machine = uniform_machine({2'000'000, 300'000, 100'000, 40'000, 0});
    machine.ranks_per_node = 1;
    return machine;
}

PlanSource all_reduce(int ranks) {
    return {static_cast<std::size_t>(ranks), [ranks](Rank me) {
                Plan plan;
                plan.me = me;
                plan.groups = {consecutive_group({ranks, ranks_per_node}, me, ranks)};
                plan.buffers = {{"send", Bytes{1} << 20U}, {"recv", Bytes{1} << 20U}};
                dlmb::Collective const step{
                    OperationKind::all_reduce, 0, 0, {0, 0}, {1, 0}, Bytes{1} << 20U, Element::fp32};
                plan.steps = {{step, {}, "allreduce", -1}};
                return plan;
            }};
}

/// In groups of so many ranks: a message of its own size to the rank of the same place on each other node, and to each
/// rank of the node. In groups of 256 it is the dispatch of deepseek-v3 by node_dedup (docs/performance.md: 40 messages
/// of a rank); to route the tokens of all ranks, which gives the very sizes, takes longer than all that is measured.
PlanSource exchange(int ranks, int group) {
    return {static_cast<std::size_t>(ranks), [ranks, group](Rank me) {
                Plan plan;
                plan.me = me;
                plan.groups = {consecutive_group({ranks, ranks_per_node}, me, std::min(group, ranks))};
                plan.buffers = {{"send", Bytes{1} << 30U}, {"recv", Bytes{1} << 30U}};
                auto const rows = [](Rank from, Rank to) { return static_cast<Bytes>(1 + (from * 7 + to * 13) % 16); };
                Exchange step{0, 0, 1, {}, {}};
                Rank place = 0;
                for (Rank const peer : plan.groups[0].members) {
                    bool const talks =
                        peer % ranks_per_node == me % ranks_per_node || peer / ranks_per_node == me / ranks_per_node;
                    if (talks && peer != me) {
                        step.send.push_back({place, 0, 7168 * rows(me, peer)});
                        step.recv.push_back({place, 0, 7168 * rows(peer, me)});
                    }
                    ++place;
                }
                plan.steps = {{step, {}, "exchange", -1}};
                return plan;
            }};
}

/// As many bytes to each, a rank per node.
PlanSource all_to_all(int ranks) {
    return {static_cast<std::size_t>(ranks), [ranks](Rank me) {
                constexpr Bytes bytes = Bytes{1} << 16U;
                Plan plan;
                plan.me = me;
                plan.groups = {consecutive_group({ranks, 1}, me, ranks)};
                plan.buffers = {{"send", bytes}, {"recv", bytes * static_cast<Bytes>(ranks)}};
                Exchange step{0, 0, 1, {}, {}};
                for (Rank peer = 0; peer < ranks; ++peer) {
                    if (peer != me) {
                        step.send.push_back({peer, 0, bytes});
                        step.recv.push_back({peer, bytes * static_cast<Bytes>(peer), bytes});
                    }
                }
                plan.steps = {{step, {}, "exchange", -1}};
                return plan;
            }};
}

PlanSource plans_of_case(std::string const& name, int ranks) {
    constexpr int experts = 256;
    return name == "dispatch"   ? exchange(ranks, experts)
           : name == "exchange" ? exchange(ranks, ranks)
           : name == "torus"    ? all_to_all(ranks)
                                : all_reduce(ranks);
}

/// Of this process: what the work costs, however busy the machine is.
double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void measure(std::string const& name, int ranks) {
    double const start = cpu_seconds();
    LoweringChoice choice;
    bool const on_torus = name == "torus";
    if (name != "dispatch" && name != "exchange" && !on_torus) {
        choice.algorithms = {{OperationKind::all_reduce, name}};
    }
    PlanSource const plans = plans_of_case(name, ranks);
    Program program = lower(plans, choice, on_torus ? ranks : period_of(plans, choice, ranks_per_node));
    std::unique_ptr<Interconnect> net;
    std::unique_ptr<LinkNetwork> network;
    if (on_torus) {
        LinkCosts const costs{0.025, 0, ranks > most_exact_ranks ? 0.05 : 0.0};
        net = interconnect_of(parse_topology(
            fmt::format("torus:{0}x{0}x{1}", ranks < 1024 ? 4 : 8, ranks < 1024 ? ranks / 16 : ranks / 64)));
        network = std::make_unique<LinkNetwork>(*net, nodes_of_ranks(*net, Placement::row_major, ranks, 1, 0), costs);
    }
    auto const simulated = static_cast<double>(program.messages);
    double const made = cpu_seconds() - start;
    double const begin = cpu_seconds();
    Simulation const simulation = simulate(std::move(program), on_torus ? torus_machine() : cluster(), network.get());
    double const ran = cpu_seconds() - begin;
    fmt::print("{:<20} {:>7} {:>12} {:>9.2f} {:>9.2f} {:>14.2f} {:>8.0f} {:>14.3f}\n", name, ranks, simulation.messages,
               made, ran, simulated / ran / 1e6, benchmark::peak_mib(), static_cast<double>(simulation.time) / 1e6);
    std::fflush(stdout);
}

}  // namespace
}  // namespace dlmb::predict

int main(int argc, char** argv) {
    try {
        if (argc == 3) {
            dlmb::predict::measure(argv[1], dlmb::parse_whole<int>(argv[2]).value_or(0));
            return 0;
        }
        fmt::print("{:<20} {:>7} {:>12} {:>9} {:>9} {:>14} {:>8} {:>14}\n", "case", "ranks", "messages", "made (s)",
                   "ran (s)", "10^6 per s", "MiB", "predicts (us)");
        std::fflush(stdout);
        for (std::string_view const each : dlmb::predict::cases) {
            for (int const ranks : each == "torus" ? dlmb::predict::rank_counts_of_torus : dlmb::predict::rank_counts) {
                pid_t const child = fork();
                if (child == 0) {
                    dlmb::predict::measure(std::string(each), ranks);
                    _exit(0);
                }
                int status = 0;
                if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
                    fmt::print("{:<20} {:>7} failed\n", each, ranks);
                }
            }
        }
        return 0;
    } catch (std::exception const& error) {
        fmt::print(stderr, "simulator_speed: error: {}\n", error.what());
        return 1;
    }
}
