// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// DualPipe's phases (deepseek-ai/DualPipe, dualpipe.py), counted.
#include "patterns/pipeline_p2p/schedules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace dlmb::pipeline_p2p {
namespace {

struct Counts {
    int forward = 0, backward = 0, weight = 0, put_off = 0, overlapped = 0;
    int sent_forward = 0, sent_backward = 0;
    bool operator==(Counts const&) const = default;
};

Counts counts_of(ScheduleShape const& shape, int rank) {
    Counts counts;
    for (ScheduleAction const& action : actions_of(shape, rank)) {
        if (auto const* task = std::get_if<PipelineTask>(&action)) {
            counts.overlapped += task->size() > 1 ? 1 : 0;
            for (StageWork const& work : *task) {
                counts.forward += work.pass == Pass::forward ? 1 : 0;
                counts.backward += work.pass == Pass::backward || work.pass == Pass::backward_input ? 1 : 0;
                counts.put_off += work.pass == Pass::backward_input ? 1 : 0;
                counts.weight += work.pass == Pass::backward_weight ? 1 : 0;
            }
        } else {
            for (TensorMessage const& message : std::get<TensorTransfer>(action)) {
                bool const forward = message.direction == Direction::forward;
                counts.sent_forward += !message.incoming && forward ? 1 : 0;
                counts.sent_backward += !message.incoming && !forward ? 1 : 0;
            }
        }
    }
    return counts;
}

std::array<int, 9> repeats(int ranks, int microbatches, int rank) {
    int const half = ranks / 2;
    int const hr = std::min(rank, ranks - 1 - rank);
    return {0,      2 * (half - hr - 1), hr + 1, half - hr - 1, microbatches / 2 - ranks + hr + 1, half - hr - 1,
            hr + 1, half - hr - 1,       hr + 1};
}

void expect_identities(int ranks, int microbatches) {
    ScheduleShape const shape{PipelineSchedule::dualpipe, ranks, 1, 1, microbatches, 1, false};
    int messages = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        SCOPED_TRACE(testing::Message() << "P " << ranks << " N " << microbatches << " rank " << rank);
        Counts const counts = counts_of(shape, rank);
        auto const n = repeats(ranks, microbatches, rank);
        bool const end = rank == 0 || rank == ranks - 1;
        bool const middle = rank == ranks / 2 - 1 || rank == ranks / 2;
        EXPECT_EQ(counts.forward, microbatches);
        EXPECT_EQ(counts.forward, n[1] + 2 * n[2] + n[3] + 2 * n[4] + n[5]);
        EXPECT_EQ(counts.backward, microbatches);
        EXPECT_EQ(counts.backward, n[3] + 2 * n[4] + 2 * n[5] + 2 * n[6] + n[7]);
        EXPECT_EQ(counts.weight, n[3] + n[7] + n[8]);
        EXPECT_EQ(counts.put_off, counts.weight);
        EXPECT_EQ(counts.overlapped, 2 * n[4] + n[5] - (middle ? 1 : 0));
        EXPECT_EQ(counts.sent_forward, end ? microbatches / 2 : microbatches);
        EXPECT_EQ(counts.sent_backward, counts.sent_forward);
        EXPECT_EQ(counts, counts_of(shape, ranks - 1 - rank));
        messages += counts.sent_forward + counts.sent_backward;
    }
    EXPECT_EQ(messages, 2 * microbatches * (ranks - 1));
}

TEST(DualPipe, IdentitiesForEveryEvenNumberOfRanks) {
    for (int ranks = 2; ranks <= 16; ranks += 2) {
        expect_identities(ranks, 2 * ranks);
        expect_identities(ranks, 2 * ranks + 2);
        expect_identities(ranks, 4 * ranks);
    }
    expect_identities(4, 10);
    expect_identities(8, 20);
}

}  // namespace
}  // namespace dlmb::pipeline_p2p
