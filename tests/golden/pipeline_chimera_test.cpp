// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Chimera's table (arXiv 2107.06925; its repository's chimera_pipeline_rank.py where that drops nothing).
#include "patterns/pipeline_p2p/makespan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace dlmb::pipeline_p2p {
namespace {

ScheduleShape shape(int ranks, int pairs, int microbatches) {
    return {PipelineSchedule::chimera, ranks, 1, pairs, microbatches, 1, false};
}

/// "0f . 0f": pipe and f, b or s by slot; dots where the rank is idle.
std::string row(ScheduleShape const& shape, int rank) {
    std::string text;
    Nanoseconds slot = 0;
    for (TimedAction const& timed : chimera_timetable(shape, rank)) {
        for (; slot < timed.slot; ++slot) {
            text += ". ";
        }
        ++slot;
        if (auto const* sync = std::get_if<GradientSync>(&timed.action)) {
            text += std::to_string(sync->pipe) + "s ";
        } else {
            StageWork const& work = std::get<PipelineTask>(timed.action).front();
            text += std::to_string(work.pipe) + (work.pass == Pass::forward ? "f " : "b ");
        }
    }
    return text;
}

TEST(Chimera, TableOfFourRanksAndFourMicroBatches) {
    EXPECT_EQ(row(shape(4, 1, 4), 0), "0f . 0f 1f 1b 1f 1b 0b 1s 0b 0s ");
    EXPECT_EQ(row(shape(4, 1, 4), 1), ". 0f 1f 0f 1f 1b 0b 1b 0b 1s 0s ");
    EXPECT_EQ(row(shape(4, 1, 4), 2), ". 1f 0f 1f 0f 0b 1b 0b 1b 0s 1s ");
    EXPECT_EQ(row(shape(4, 1, 4), 3), "1f . 1f 0f 0b 0f 0b 1b 0s 1b 1s ");
}

Nanoseconds slots_with_syncs(ScheduleShape const& shape) {
    Nanoseconds slots = 0;
    for (int rank = 0; rank < shape.ranks; ++rank) {
        slots = std::max(slots, chimera_timetable(shape, rank).back().slot + 1);
    }
    return slots;
}

// 2D*(Q-1) + 2D + D - 1 with one pair. The published generator stops at 19 slots with two pairs of eight ranks, too,
// but has then made 16 of the 32 synchronisations: a rank has 16 passes and 4 stages, so 20 slots are the least.
TEST(Chimera, SlotsWithSynchronisations) {
    EXPECT_EQ(slots_with_syncs(shape(4, 1, 4)), 11);
    EXPECT_EQ(slots_with_syncs(shape(4, 1, 8)), 19);
    EXPECT_EQ(slots_with_syncs(shape(8, 1, 8)), 23);
    EXPECT_EQ(slots_with_syncs(shape(8, 2, 8)), 21);
}

void expect_whole(ScheduleShape const& made) {
    std::map<std::pair<int, int>, int> passes;  // (stage, pass): micro-batches
    for (int rank = 0; rank < made.ranks; ++rank) {
        std::set<Nanoseconds> slots;
        int in_flight = 0;
        int syncs = 0;
        for (TimedAction const& timed : chimera_timetable(made, rank)) {
            syncs += std::holds_alternative<GradientSync>(timed.action) ? 1 : 0;
            ASSERT_TRUE(slots.insert(timed.slot).second) << "rank " << rank << " slot " << timed.slot;
            if (auto const* task = std::get_if<PipelineTask>(&timed.action)) {
                bool const forward = task->front().pass == Pass::forward;
                ++passes[{task->front().stage, forward ? 0 : 1}];
                in_flight += forward ? 1 : -1;
                ASSERT_LE(in_flight, made.ranks);
            }
        }
        ASSERT_EQ(syncs, 2 * made.pipe_pairs);
    }
    for (auto const& [pass, count] : passes) {
        ASSERT_EQ(count, made.microbatches) << "stage " << pass.first;
    }
    ASSERT_EQ(passes.size(), static_cast<std::size_t>(2 * made.ranks));
}

// The published generator drops passes at D = 8, N = 32, at D = 6, N = 24 and at D = 2, N > 2.
TEST(Chimera, NoTwoPassesInOneSlotAndNoneDropped) {
    for (int const ranks : {2, 4, 6, 8, 16}) {
        for (int pairs = 1; 2 * pairs <= ranks; ++pairs) {
            for (int count = 1; ranks % (2 * pairs) == 0 && count <= 4 * ranks; ++count) {
                SCOPED_TRACE(testing::Message() << "D " << ranks << " f " << pairs << " N " << count);
                expect_whole(shape(ranks, pairs, count));
            }
        }
    }
    for (int const count : {32, 64, 256}) {
        expect_whole(shape(32, 1, count));
    }
}

double bubble_ratio(ScheduleShape const& shape) {
    auto const makespan = static_cast<double>(ideal_timetable(shape, {}).makespan);
    return (makespan - static_cast<double>(compute_per_rank(shape, {}))) / makespan;
}

// Table 2 of the paper, F = B: D - 2 bubbles per rank against 2(D - 1) of 1F1B.
TEST(Chimera, BubblesAgainstThoseOf1F1B) {
    std::map<int, std::pair<double, double>> const published{{4, {.200, .111}}, {8, {.273, .158}}, {32, {.319, .190}}};
    for (auto const& [ranks, ratios] : published) {
        EXPECT_NEAR(bubble_ratio(shape(ranks, 1, ranks)), ratios.first, 5e-4);
        EXPECT_NEAR(bubble_ratio(shape(ranks, 1, 2 * ranks)), ratios.second, 5e-4);
        for (int const count : {ranks, 2 * ranks}) {
            ScheduleShape one_f_one_b = shape(ranks, 1, count);
            one_f_one_b.schedule = PipelineSchedule::one_f_one_b;
            EXPECT_EQ(ideal_timetable(shape(ranks, 1, count), {}).makespan - Nanoseconds{2} * count, ranks - 2);
            EXPECT_EQ(ideal_timetable(one_f_one_b, {}).makespan - Nanoseconds{2} * count, 2 * (ranks - 1));
            EXPECT_EQ(tensor_messages(shape(ranks, 1, count)), tensor_messages(one_f_one_b));
        }
    }
}

}  // namespace
}  // namespace dlmb::pipeline_p2p
