// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The rules of the simulator, on GOAL text: what LogGOPSim does where it is right (L, o, g, G in ns).
#include "common/base/error.hpp"
#include "common/tools/predict/simulator/program.hpp"
#include "common/tools/predict/simulator/simulation.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>

namespace dlmb::predict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Picoseconds ns = 1000;

Machine machine_of(Picoseconds latency, Picoseconds overhead, Picoseconds gap, Picoseconds gap_per_byte) {
    return uniform_machine({latency * ns, overhead * ns, gap * ns, gap_per_byte * ns * 1000, 0});
}

std::vector<Picoseconds> ends_of(std::string_view goal, Machine const& machine) {
    std::vector<Picoseconds> ends = simulate(read_goal(goal, "test"), machine).ends;
    for (Picoseconds& end : ends) {
        EXPECT_EQ(end % ns, 0);
        end /= ns;
    }
    return ends;
}

std::string refusal_of(std::string_view goal, Machine const& machine = machine_of(1, 1, 0, 1)) {
    try {
        (void)simulate(read_goal(goal, "test"), machine);
    } catch (UsageError const& error) {
        return error.what();
    }
    return "accepted";
}

// o + L + (s - 1) G + o, and the calc of 100 behind it: 1000 and 1000 + 2000 + 9 + 1000 + 100.
TEST(SimulatorRules, OneMessage) {
    EXPECT_THAT(ends_of("num_ranks 2\nrank 0 {\ns0: send 10b to 1 tag 1\n}\nrank 1 {\nr0: recv 10b from 0 tag 1\n"
                        "c0: calc 100\nc0 requires r0\n}\n",
                        machine_of(2000, 1000, 0, 1)),
                ElementsAre(1000, 4109));
}

// The NIC of the receiver takes one message after the other: 2000 + 1000 + 2 * 10000 + 1000.
TEST(SimulatorRules, IncastIsSerialisedAtTheNic) {
    EXPECT_THAT(
        ends_of("num_ranks 3\nrank 0 {\nrecv 10001b from 1\nrecv 10001b from 2\n}\nrank 1 {\nsend 10001b to 0\n}\n"
                "rank 2 {\nsend 10001b to 0\n}\n",
                machine_of(2000, 1000, 0, 1)),
        ElementsAre(24000, 1000, 1000));
}

// Two servers in front have a task for each of the others, which have two: memory is not asked for as if all were
// servers.
TEST(SimulatorRules, ServersInFrontAreNotTakenForAll) {
    constexpr int ranks = 400;
    std::string servers;
    std::string others;
    for (int rank = 2; rank < ranks; ++rank) {
        servers += fmt::format("send 8b to {}\n", rank);
        others += fmt::format("rank {} {{\nrecv 8b from 0\nrecv 8b from 1\n}}\n", rank);
    }
    Program const program = read_goal(
        fmt::format("num_ranks {}\nrank 0 {{\n{}}}\nrank 1 {{\n{}}}\n{}", ranks, servers, servers, others), "test");
    EXPECT_LE(program.tasks.capacity(), 2 * program.tasks.size());
}

// The second message leaves the NIC 10000 after the first.
TEST(SimulatorRules, OutcastIsSerialisedAtTheNic) {
    EXPECT_THAT(
        ends_of("num_ranks 3\nrank 0 {\nsend 10001b to 1\nsend 10001b to 2\n}\nrank 1 {\nrecv 10001b from 0\n}\n"
                "rank 2 {\nrecv 10001b from 0\n}\n",
                machine_of(2000, 1000, 0, 1)),
        ElementsAre(11000, 14000, 24000));
}

TEST(SimulatorRules, OneMessageIsNotDelayedByTheGap) {
    EXPECT_THAT(ends_of("num_ranks 2\nrank 0 {\nsend 10b to 1\n}\nrank 1 {\nrecv 10b from 0\n}\n",
                        machine_of(2000, 1000, 7, 1)),
                ElementsAre(1000, 4009));
}

// While a send waits for the NIC the processor is free.
TEST(SimulatorRules, CalculationsRunWhileASendWaitsForTheNic) {
    EXPECT_THAT(ends_of("num_ranks 2\nrank 0 {\nsend 1001b to 1\nsend 1001b to 1\nc: calc 500\n}\n"
                        "rank 1 {\nrecv 1001b from 0\nrecv 1001b from 0\n}\n",
                        machine_of(0, 100, 0, 1)),
                ElementsAre(1100, 2200));
}

TEST(SimulatorRules, RequiresIsHonouredAcrossProcessors) {
    EXPECT_THAT(ends_of("num_ranks 2\nrank 0 {\nc: calc 5000 cpu 1\ns: send 1b to 1\ns requires c\n}\nrank 1 {\n"
                        "recv 1b from 0\n}\n",
                        machine_of(10, 1, 0, 1)),
                ElementsAre(5001, 5012));
}

TEST(SimulatorRules, ProcessorsRunBesideEachOther) {
    EXPECT_THAT(ends_of("num_ranks 1\nrank 0 {\ncalc 70 cpu 1\ncalc 50\ncalc 50\n}\n", machine_of(0, 0, 0, 0)),
                ElementsAre(100));
}

// irequires: after the start of the calc; of a receive, after it is posted.
TEST(SimulatorRules, IrequiresWaitsForTheStart) {
    EXPECT_THAT(ends_of("num_ranks 2\nrank 0 {\na: calc 100\nb: calc 10 cpu 1\nb irequires a\nr: recv 1b from 1\n"
                        "c: calc 20 cpu 2\nc irequires r\n}\nrank 1 {\nw: calc 300\ns: send 1b to 0\ns requires w\n}\n",
                        machine_of(0, 0, 0, 0)),
                ElementsAre(300, 300));
    Simulation const simulation = simulate(
        read_goal("num_ranks 1\nrank 0 {\nz: calc 40\na: calc 100\na requires z\nb: calc 10 cpu 1\nb irequires a\n}\n",
                  "test"),
        machine_of(0, 0, 0, 0));
    EXPECT_EQ(simulation.phases[2].name, "b");
    EXPECT_EQ(simulation.phases[2].begin, 40 * ns);
}

// Above the eager limit a send ends with its receive, which is posted at 900.
TEST(SimulatorRules, LargeSendsEndWithTheirReceive) {
    Machine machine = machine_of(10, 1, 0, 1);
    char const* const goal = "num_ranks 2\nrank 0 {\ns: send 101b to 1\nc: calc 5\nc requires s\n}\n"
                             "rank 1 {\nw: calc 900\nr: recv 101b from 0\nr requires w\n}\n";
    EXPECT_THAT(ends_of(goal, machine), ElementsAre(6, 901));
    machine.eager_limit = 100;
    EXPECT_THAT(ends_of(goal, machine), ElementsAre(906, 901));
}

// Messages of one tag are met in the order in which they arrive, not in that of the file.
TEST(SimulatorRules, MessagesOfOneTagAreFirstInFirstOut) {
    EXPECT_THAT(ends_of("num_ranks 2\nrank 0 {\nw: calc 100\na: send 16b to 1 tag 5\na requires w\n"
                        "b: send 8b to 1 tag 5\n}\nrank 1 {\nc: recv 8b from 0 tag 5\n"
                        "d: recv 16b from 0 tag 5\n"
                        "d requires c\n}\n",
                        machine_of(10, 0, 0, 0)),
                ElementsAre(100, 110));
    EXPECT_THAT(refusal_of("num_ranks 2\nrank 0 {\nsend 8b to 1\nsend 16b to 1\n}\nrank 1 {\na: recv 16b from 0\n"
                           "b: recv 8b from 0\nb requires a\n}\n"),
                HasSubstr("send of 8 B to rank 1 meets rank 1, \"a\": receive of 16 B"));
}

TEST(SimulatorRules, WhatDoesNotFitIsRefused) {
    EXPECT_EQ(refusal_of("num_ranks 2\nrank 0 {\ns: send 8b to 1 tag 3\n}\nrank 1 {\n}\n"),
              "test: rank 0, \"s\": send of 8 B to rank 1 with tag 3 has no other end");
    EXPECT_EQ(refusal_of("num_ranks 2\nrank 0 {\n}\nrank 1 {\nr: recv 8b from 0\n}\n"),
              "test: rank 1, \"r\": receive of 8 B from rank 0 with tag 0 has no other end");
    EXPECT_THAT(refusal_of("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n"),
                HasSubstr("the sizes differ"));
    EXPECT_THAT(refusal_of("num_ranks 2\nrank 0 {\nr: recv 8b from 1\ns: send 8b to 1\ns requires r\n}\n"
                           "rank 1 {\nr: recv 8b from 0\ns: send 8b to 0\ns requires r\n}\n"),
                HasSubstr("rank 0, \"r\": receive of 8 B from rank 1 never starts"));
    EXPECT_THAT(refusal_of("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n"),
                HasSubstr("never starts: tasks wait for each other"));
    EXPECT_THAT(refusal_of("num_ranks 2\nrank 0 {\nrecv 8b from -1\n}\nrank 1 {\nsend 8b to 0\n}\n"),
                HasSubstr("test, line 3: a receive from anybody"));
    EXPECT_THAT(refusal_of("num_ranks 1\nrank 0 {\ncalc 9223372036854775\ncalc 9223372036854775\n}\n"),
                HasSubstr("too long"));
    EXPECT_THAT(refusal_of("num_ranks 2\nrank 0 {\nsend 9223372036854775807b to 1\n}\nrank 1 {\n"
                           "recv 9223372036854775807b from 0\n}\n"),
                HasSubstr("too long"));
}

TEST(SimulatorRules, TimesBeyondTheClockAreRefused) {
    std::string goal = "num_ranks 1\nrank 0 {\n";
    for (int more = 0; more < 40; ++more) {
        goal += "calc 288230376151711\n";  // 2^58 ps, and nothing waits for them
    }
    EXPECT_EQ(refusal_of(goal + "}\n"), "the simulated time is above 53 days");
}

TEST(SimulatorRules, AnEmptyProgramTakesNoTime) {
    EXPECT_THAT(ends_of("num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n", machine_of(1, 1, 1, 1)), ElementsAre(0, 0));
    EXPECT_THAT(
        ends_of("num_ranks 2\nrank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 0b from 0\n}\n", machine_of(10, 1, 0, 1)),
        ElementsAre(1, 12));
}

TEST(SimulatorRules, ThePathExplainsTheTime) {
    Simulation const simulation =
        simulate(read_goal("num_ranks 2\nrank 0 {\ns0: send 10b to 1\n}\nrank 1 {\nr0: recv 10b from 0\nc0: calc 100\n"
                           "c0 requires r0\n}\n",
                           "test"),
                 machine_of(2000, 1000, 0, 1));
    EXPECT_EQ(simulation.split, (TimeSplit{100 * ns, 2000 * ns, 2000 * ns, 9 * ns, 0}));
    std::vector<std::string_view> pieces;
    for (PathPiece const& piece : simulation.path) {
        pieces.push_back(name_of(piece.kind));
    }
    EXPECT_THAT(pieces, ElementsAre("send", "way", "receive", "work"));
    EXPECT_EQ(simulation.path.front().begin, 0);
    EXPECT_EQ(simulation.path.back().end, simulation.time);
    EXPECT_THAT(simulation.busy, ElementsAre(1000 * ns, 1100 * ns));
}

// The NIC is free again after g; the three links of the way add the latency of two.
TEST(SimulatorRules, ThePathOfAMessageThatSharesLinksKnowsTheirLatency) {
    auto const net = interconnect_of(parse_topology("torus:8"));
    LinkNetwork links(*net, nodes_of_ranks(*net, Placement::row_major, 4, 1, 1), {0.001, 100 * ns});
    Program const program = read_goal("num_ranks 4\nrank 0 {\nsend 10001b to 1\nsend 10001b to 3\n}\nrank 1 {\n"
                                      "recv 10001b from 0\n}\nrank 2 {\n}\nrank 3 {\nrecv 10001b from 0\n}\n",
                                      "test");
    TimeSplit const split = simulate(program, machine_of(2000, 1000, 5000, 1), &links).split;
    EXPECT_EQ(split.overhead, (5000 + 2 * 1000) * ns);
    EXPECT_EQ(split.latency, (2000 + 2 * 100) * ns);
    EXPECT_EQ(split.bandwidth, 10000 * ns);
}

}  // namespace
}  // namespace dlmb::predict
