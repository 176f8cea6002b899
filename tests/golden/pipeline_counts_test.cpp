// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls and messages of 1F1B and interleaved 1F1B as Megatron-LM issues them (schedules.py), and of the others as their
// papers count them.
#include "patterns/pipeline_p2p/schedules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace dlmb::pipeline_p2p {
namespace {

ScheduleShape shape(PipelineSchedule schedule, int ranks, int microbatches, int virtual_stages = 1) {
    return {schedule, ranks, virtual_stages, 1, microbatches, ranks, false};
}

std::vector<TensorTransfer> transfers_of(ScheduleShape const& shape, int rank) {
    std::vector<TensorTransfer> transfers;
    for (ScheduleAction const& action : actions_of(shape, rank)) {
        if (auto const* transfer = std::get_if<TensorTransfer>(&action)) {
            transfers.push_back(*transfer);
        }
    }
    return transfers;
}

std::string name_of(TensorTransfer const& transfer) {
    std::string name;
    for (TensorMessage const& message : transfer) {
        name += std::string(name.empty() ? "" : "+") + (message.incoming ? "recv" : "send") +
                (message.direction == Direction::forward ? "F" : "B");
    }
    return name;
}

std::map<std::string, int> calls(ScheduleShape const& shape, int rank) {
    std::map<std::string, int> counts;
    for (TensorTransfer const& transfer : transfers_of(shape, rank)) {
        ++counts[name_of(transfer)];
    }
    return counts;
}

int sends(ScheduleShape const& shape, int rank, Direction direction) {
    int count = 0;
    for (TensorTransfer const& transfer : transfers_of(shape, rank)) {
        for (TensorMessage const& message : transfer) {
            count += !message.incoming && message.direction == direction ? 1 : 0;
        }
    }
    return count;
}

std::vector<int> sends_by_rank(ScheduleShape const& shape, Direction direction) {
    std::vector<int> counts;
    for (int rank = 0; rank < shape.ranks; ++rank) {
        counts.push_back(sends(shape, rank, direction));
    }
    return counts;
}

std::uint64_t all_sends(ScheduleShape const& shape) {
    int count = 0;
    for (int rank = 0; rank < shape.ranks; ++rank) {
        count += sends(shape, rank, Direction::forward) + sends(shape, rank, Direction::backward);
    }
    return static_cast<std::uint64_t>(count);
}

TEST(PipelineCounts, CallsOf1F1BOnFourRanksWithEightMicroBatches) {
    ScheduleShape const four = shape(PipelineSchedule::one_f_one_b, 4, 8);
    using Calls = std::map<std::string, int>;
    EXPECT_EQ(calls(four, 0), (Calls{{"sendF", 3}, {"sendF+recvB", 5}, {"recvB", 3}}));
    EXPECT_EQ(calls(four, 1),
              (Calls{{"recvF", 3}, {"sendF", 2}, {"sendF+recvB", 6}, {"sendB+recvF", 5}, {"sendB", 3}, {"recvB", 2}}));
    EXPECT_EQ(calls(four, 2),
              (Calls{{"recvF", 2}, {"sendF", 1}, {"sendF+recvB", 7}, {"sendB+recvF", 6}, {"sendB", 2}, {"recvB", 1}}));
    EXPECT_EQ(calls(four, 3), (Calls{{"recvF", 1}, {"sendB+recvF", 7}, {"sendB", 1}}));
}

TEST(PipelineCounts, OneOrderOf1F1BWrittenOut) {
    std::string text;
    for (ScheduleAction const& action : actions_of(shape(PipelineSchedule::one_f_one_b, 4, 4), 2)) {
        if (auto const* task = std::get_if<PipelineTask>(&action)) {
            text += (task->front().pass == Pass::forward ? 'F' : 'B') + std::to_string(task->front().microbatch) + ' ';
        } else {
            text += name_of(std::get<TensorTransfer>(action)) + ' ';
        }
    }
    EXPECT_EQ(text, "recvF F0 sendF recvF F1 sendF+recvB B0 sendB+recvF F2 sendF+recvB B1 sendB+recvF F3 sendF+recvB "
                    "B2 sendB recvB B3 sendB ");
}

TEST(PipelineCounts, GPipeRunsAllForwardPassesFirst) {
    ScheduleShape const gpipe_shape = shape(PipelineSchedule::gpipe, 4, 8);
    EXPECT_EQ(calls(gpipe_shape, 1),
              (std::map<std::string, int>{{"recvF", 8}, {"sendF", 8}, {"recvB", 8}, {"sendB", 8}}));
    std::vector<PipelineTask> const tasks = tasks_of(gpipe_shape, 1);
    for (std::size_t k = 0; k < tasks.size(); ++k) {
        EXPECT_EQ(tasks[k].front().pass, k < 8 ? Pass::forward : Pass::backward);
    }
}

// 2*m*(p-1) with one stage per rank; 2*m*(p*v-1) interleaved; 4*m*(p-1) in a V: its turn and its end stay on a rank.
TEST(PipelineCounts, MessagesOfAChain) {
    for (int const ranks : {2, 4, 6, 8}) {
        int const count = 4 * ranks;
        for (PipelineSchedule const schedule :
             {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::zb_h1,
              PipelineSchedule::chimera, PipelineSchedule::dualpipe}) {
            EXPECT_EQ(all_sends(shape(schedule, ranks, count)), static_cast<std::uint64_t>(2 * count * (ranks - 1)));
        }
        EXPECT_EQ(all_sends(shape(PipelineSchedule::zb_v, ranks, count)),
                  static_cast<std::uint64_t>(4 * count * (ranks - 1)));
    }
}

int warm_up(ScheduleShape const& shape, int rank) {
    int count = 0;
    for (PipelineTask const& task : tasks_of(shape, rank)) {
        if (task.front().pass != Pass::forward) {
            break;
        }
        ++count;
    }
    return count - 1;  // the first pass of the steady phase is a forward, too
}

TEST(PipelineCounts, InterleavedOnFourRanksWithTwoChunks) {
    ScheduleShape const four = shape(PipelineSchedule::interleaved, 4, 8, 2);
    EXPECT_EQ(warm_up(four, 0), 10);
    EXPECT_EQ(warm_up(four, 1), 8);
    EXPECT_EQ(warm_up(four, 2), 6);
    EXPECT_EQ(warm_up(four, 3), 4);
    EXPECT_EQ(sends_by_rank(four, Direction::forward), (std::vector<int>{16, 16, 16, 8}));
    EXPECT_EQ(sends_by_rank(four, Direction::backward), (std::vector<int>{8, 16, 16, 16}));
}

TEST(PipelineCounts, InterleavedTotals) {
    struct Sizes {
        int ranks, chunks, microbatches;
    };
    for (auto const& [p, v, m] :
         {Sizes{3, 2, 6}, {3, 3, 9}, {4, 2, 4}, {4, 2, 8}, {4, 3, 12}, {4, 4, 16}, {8, 2, 16}}) {
        for (bool const overlapped : {false, true}) {
            ScheduleShape made = shape(PipelineSchedule::interleaved, p, m, v);
            made.overlapped = overlapped;
            EXPECT_EQ(all_sends(made), static_cast<std::uint64_t>(2 * m * (p * v - 1))) << p << ' ' << v << ' ' << m;
            EXPECT_EQ(tensor_messages(made), static_cast<std::uint64_t>(2 * m * (p * v - 1)));
        }
    }
}

// Every schedule: each micro-batch once forward and once backward through each stage, weights once where they are
// apart.
TEST(PipelineCounts, EveryPassOnce) {
    for (PipelineSchedule const schedule :
         {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved,
          PipelineSchedule::chimera, PipelineSchedule::zb_h1, PipelineSchedule::zb_v, PipelineSchedule::dualpipe}) {
        for (int const ranks : {2, 4, 8}) {
            ScheduleShape const made =
                shape(schedule, ranks, 4 * ranks, schedule == PipelineSchedule::interleaved ? 3 : 1);
            std::map<std::tuple<int, int, int>, int> forward, backward, deferred, weight;
            for (int rank = 0; rank < ranks; ++rank) {
                for (PipelineTask const& task : tasks_of(made, rank)) {
                    for (StageWork const& work : task) {
                        EXPECT_EQ(rank_of(made, work.pipe, work.stage), rank);
                        std::tuple const key{work.pipe, work.stage, work.microbatch};
                        ++(work.pass == Pass::forward           ? forward
                           : work.pass == Pass::backward_weight ? weight
                                                                : backward)[key];
                        deferred[key] += work.pass == Pass::backward_input ? 1 : 0;
                    }
                }
            }
            EXPECT_EQ(forward.size(), static_cast<std::size_t>(made.microbatches * stages_per_pipe(made)));
            EXPECT_EQ(backward.size(), forward.size());
            for (auto const& [key, count] : forward) {
                EXPECT_EQ(count, 1);
                EXPECT_EQ(backward[key], 1);
                EXPECT_EQ(weight[key], deferred[key]);
            }
        }
    }
}

// DualPipe's phases (deepseek-ai/DualPipe, dualpipe.py), counted.
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
    ScheduleShape const made = shape(PipelineSchedule::dualpipe, ranks, microbatches);
    int messages = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        SCOPED_TRACE(testing::Message() << "P " << ranks << " N " << microbatches << " rank " << rank);
        Counts const counts = counts_of(made, rank);
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
        EXPECT_EQ(counts, counts_of(made, ranks - 1 - rank));
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
