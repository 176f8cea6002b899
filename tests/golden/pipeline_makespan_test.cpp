// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Published closed forms against a simulation of plans with communication that takes no time. Messages go apart
// (separate), so that only data make a rank wait.
#include "patterns/pipeline_p2p/makespan.hpp"
#include "patterns/pipeline_p2p/params.hpp"
#include "tests/unit/pipeline_p2p/fixture.hpp"
#include "tests/unit/pipeline_p2p/plan_simulation.hpp"

#include <gtest/gtest.h>

namespace dlmb::pipeline_p2p {
namespace {

/// Microseconds of one rank's part of a pipe.
struct Times {
    int forward, backward, weight;
};
constexpr Times equal_passes{60, 60, 30};   // F = B
constexpr Times equal_parts{60, 120, 60};   // F = I = W
constexpr Times typical{60, 120, 24};       // F < I, W < F
constexpr Times light_weights{60, 84, 24};  // F = I, W < I

Parameters timed(char const* schedule, int microbatches, Times const& times, char const* mode = "separate") {
    return {{"schedule", schedule},
            {"mode", mode},
            {"sequence", "16"},
            {"hidden", "16"},
            {"compute", "busy"},
            {"microbatches", std::to_string(microbatches)},
            {"forward-us", std::to_string(times.forward)},
            {"backward-us", std::to_string(times.backward)},
            {"weight-us", std::to_string(times.weight)}};
}

Nanoseconds simulated_us(Parameters const& parameters, int ranks) {
    return PlanSimulation(plans_of(parameters, ranks)).makespan() / 1000;
}

TEST(PipelineMakespan, GPipeAnd1F1BTakeNPlusDMinus1Pairs) {
    for (char const* schedule : {"gpipe", "1f1b"}) {
        for (int const ranks : {1, 2, 4, 8}) {
            for (int const count : {1, ranks, 3 * ranks}) {
                for (Times const& times : {equal_passes, typical}) {
                    EXPECT_EQ(simulated_us(timed(schedule, count, times), ranks),
                              (count + ranks - 1) * (times.forward + times.backward))
                        << schedule << ' ' << ranks << ' ' << count;
                }
            }
        }
    }
}

// PipeFisher (arXiv 2211.14133): with N = D, (2D-1)(F+B) for 1F1B and D*F + (2D-2)*B for Chimera.
TEST(PipelineMakespan, ChimeraAgainst1F1B) {
    for (int const ranks : {2, 4, 8, 16}) {
        for (Times const& times : {equal_passes, typical}) {
            EXPECT_EQ(simulated_us(timed("1f1b", ranks, times), ranks),
                      (2 * ranks - 1) * (times.forward + times.backward));
            EXPECT_EQ(simulated_us(timed("chimera", ranks, times), ranks),
                      ranks * times.forward + (2 * ranks - 2) * times.backward);
        }
    }
}

// Each half of the bubble of 1F1B's (2D-2) slots is saved: 2N + D/f - 2 slots in all.
TEST(PipelineMakespan, ChimeraInSlots) {
    for (char const* mode : {"separate", "batched"}) {
        for (int const ranks : {4, 8}) {
            for (int const pairs : {1, 2}) {
                for (int const count : {ranks, 2 * ranks, 4 * ranks}) {
                    Parameters const parameters =
                        with(timed("chimera", count, equal_passes, mode), {{"pipe-pairs", std::to_string(pairs)}});
                    EXPECT_EQ(simulated_us(parameters, ranks), 60 * (2 * count + ranks / pairs - 2))
                        << mode << ' ' << ranks << ' ' << pairs << ' ' << count;
                }
            }
        }
    }
}

// Megatron-LM (arXiv 2104.04473): the bubble shrinks by the number of chunks.
TEST(PipelineMakespan, InterleavingDividesTheBubble) {
    for (int const ranks : {2, 4, 8}) {
        for (int const chunks : {1, 2, 3}) {
            for (int const count : {ranks, 2 * ranks, 4 * ranks}) {
                Parameters const parameters =
                    with(timed("interleaved", count, typical), {{"virtual-stages", std::to_string(chunks)}});
                EXPECT_EQ(simulated_us(parameters, ranks), count * 180 + (ranks - 1) * 180 / chunks)
                    << ranks << ' ' << chunks << ' ' << count;
            }
        }
    }
}

// arXiv 2401.10241, table 1: the bubble of ZB-H1 is (p-1)(T_F + T_B - T_W).
TEST(PipelineMakespan, ZeroBubbleH1) {
    for (int const ranks : {1, 2, 4, 8}) {
        for (int const count : {ranks, 2 * ranks, 4 * ranks}) {
            for (Times const& times : {equal_parts, typical, light_weights}) {
                int const input = times.backward - times.weight;
                EXPECT_EQ(simulated_us(timed("zb_h1", count, times), ranks),
                          count * (times.forward + times.backward) +
                              (ranks - 1) * (times.forward + input - times.weight))
                    << ranks << ' ' << count << ' ' << times.weight;
            }
            EXPECT_EQ(simulated_us(timed("zb_h1", count, equal_parts, "batched"), ranks), 60 * (3 * count + ranks - 1));
        }
    }
}

// arXiv 2405.15362: no bubble but the p - 1 chunk slots in which the V fills.
TEST(PipelineMakespan, ZeroBubbleV) {
    for (char const* mode : {"separate", "batched"}) {
        for (int const ranks : {1, 2, 4, 8}) {
            for (int const count : {2 * ranks - 1, 2 * ranks, 4 * ranks}) {
                EXPECT_EQ(simulated_us(timed("zb_v", count, equal_parts, mode), ranks), 30 * (6 * count + ranks - 1))
                    << mode << ' ' << ranks << ' ' << count;
            }
        }
    }
}

// arXiv 2412.19437, table 2: bubble (PP/2 - 1)(F&B + B - 3W); the overlapped pair F&B takes F + B here.
TEST(PipelineMakespan, DualPipe) {
    struct Sizes {
        int ranks, microbatches;
    };
    for (char const* mode : {"separate", "batched"}) {
        for (auto const& [ranks, count] : {Sizes{2, 4}, {4, 8}, {4, 10}, {8, 16}, {8, 20}, {16, 32}}) {
            for (Times const& times : {equal_parts, light_weights}) {
                int const pair = times.forward + times.backward;
                EXPECT_EQ(simulated_us(timed("dualpipe", count, times, mode), ranks),
                          count * pair + (ranks / 2 - 1) * (pair + times.backward - 3 * times.weight))
                    << mode << ' ' << ranks << ' ' << count;
            }
        }
    }
}

TEST(PipelineMakespan, TheStatisticIsWhatIsPlayed) {
    for (char const* schedule : schedules) {
        for (int const count : {8, 12, 18}) {
            for (Times const& times : {equal_passes, equal_parts, typical, light_weights}) {
                Parameters const parameters =
                    with(timed(schedule, count, times), {{"microbatch-group", count == 18 ? "18" : "0"}});
                auto const pattern = make_pipeline(parameters, {4, 4});
                auto const simulated = static_cast<double>(simulated_us(parameters, 4));
                double const compute = count * (times.forward + times.backward);
                EXPECT_EQ(statistic(*pattern, "ideal_makespan_us"), simulated)
                    << schedule << ' ' << count << ' ' << times.weight;
                EXPECT_EQ(statistic(*pattern, "compute_us"), compute) << schedule;
                EXPECT_NEAR(statistic(*pattern, "ideal_bubble_ratio"), 1 - compute / simulated, 1e-12) << schedule;
            }
        }
    }
    EXPECT_EQ(statistic(*make_pipeline({{"microbatches", "8"}}, {4, 4}), "ideal_makespan_slots"), 2 * (8 + 3));
}

}  // namespace
}  // namespace dlmb::pipeline_p2p
