// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Sizes are all alike, so matching sizes prove little: the k-th message of a channel must be the one that is expected.
#include "patterns/pipeline_p2p/messages.hpp"
#include "tests/unit/pipeline_p2p/fixture.hpp"
#include "tests/unit/pipeline_p2p/plan_simulation.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace dlmb::pipeline_p2p {
namespace {

Parameters const sixteen_microbatches{{"sequence", "96"}, {"hidden", "16"}, {"microbatches", "16"}};

TEST(PipelineMessages, TheReceiverGetsTheMicroBatchAndTheStageThatItExpects) {
    for (char const* schedule : schedules) {
        for (char const* mode : modes) {
            for (int const ranks : {2, 4, 8}) {
                auto const plans =
                    plans_of(with(sixteen_microbatches, {{"schedule", schedule}, {"mode", mode}}), ranks);
                PlanSimulation const simulation(plans);
                for (auto const& [receiver, sender] : simulation.partners()) {
                    Step const& a = plans[static_cast<std::size_t>(receiver.first)].steps[receiver.second];
                    Step const& b = plans[static_cast<std::size_t>(sender.first)].steps[sender.second];
                    ASSERT_EQ(a.label, b.label) << schedule << ' ' << mode << ' ' << ranks;
                    ASSERT_EQ(a.microbatch, b.microbatch) << schedule << ' ' << mode << ' ' << a.label;
                }
            }
        }
    }
}

TEST(PipelineMessages, AsManyAsTheStatisticSays) {
    for (char const* schedule : schedules) {
        WorldShape const world{8, 8};
        auto const pattern =
            make_pipeline(with(sixteen_microbatches, {{"schedule", schedule}, {"pp", "4"}, {"tp", "2"}}), world);
        double sends = 0;
        for (Plan const& plan : build_all(*pattern, world, {})) {
            for (Step const& step : plan.steps) {
                sends += std::holds_alternative<Send>(step.operation) ? 1 : 0;
            }
        }
        EXPECT_EQ(sends, statistic(*pattern, "messages")) << schedule;
    }
}

// DeepSpeed pipe/engine.py: description, partition, tensor, mask; no mask with gradients; blocking, one by one.
TEST(PipelineMessages, DeepSpeedSendsTheSmallOnesOneByOne) {
    Parameters const parameters{{"microbatches", "1"},   {"mode", "meta_data"},    {"tp", "2"},
                                {"dynamic-shape", "on"}, {"attention-mask", "on"}, {"tp-split", "scatter_gather"}};
    Plan const plan = plans_of(parameters, 4).front();
    std::string text;
    for (Step const& step : plan.steps) {
        text += step.label + ' ';
    }
    EXPECT_EQ(text, "meta.forward meta.forward forward forward.mask meta.backward backward backward.gather ");
    for (StepId id = 1; id < plan.steps.size(); ++id) {
        EXPECT_EQ(plan.steps[id].after, std::vector<StepId>{id - 1}) << id;
    }
}

// Megatron-LM p2p_communication.py (batched, separate by the parity of the rank); DeepSpeed pipe/schedule.py.
TEST(PipelineMessages, OrderInsideATransferFollowsTheMode) {
    TensorTransfer const all{{Direction::forward, false, 0, 1, 0},
                             {Direction::forward, true, 0, 1, 0},
                             {Direction::backward, false, 0, 1, 0},
                             {Direction::backward, true, 0, 1, 0}};
    auto const order = [&](MessageMode mode, int rank) {
        Params params;
        params.mode = mode;
        std::string text;
        for (TensorMessage const& message : in_order_of_issue(params, rank, all)) {
            bool const next = (message.direction == Direction::forward) != message.incoming;
            text += std::string(message.incoming ? "recv_" : "send_") + (next ? "next " : "prev ");
        }
        return text;
    };
    EXPECT_EQ(order(MessageMode::batched, 1), "send_prev recv_prev send_next recv_next ");
    EXPECT_EQ(order(MessageMode::handshake_data, 0), "send_prev recv_prev send_next recv_next ");
    EXPECT_EQ(order(MessageMode::separate, 2), "send_next recv_prev send_prev recv_next ");
    EXPECT_EQ(order(MessageMode::separate, 3), "recv_prev send_next recv_next send_prev ");
    EXPECT_EQ(order(MessageMode::meta_data, 1), "send_prev recv_prev recv_next send_next ");
}

// With two ranks both directions are between the same two ranks, but not on one channel.
TEST(PipelineMessages, DirectionsHaveTheirOwnChannels) {
    for (char const* schedule : schedules) {
        std::map<int, std::set<std::string_view>> phases;  // by channel
        for (Plan const& plan :
             plans_of(with(sixteen_microbatches, {{"schedule", schedule}, {"mode", "separate"}}), 2)) {
            for (Step const& step : plan.steps) {
                if (auto const* send = std::get_if<Send>(&step.operation)) {
                    phases[send->channel].insert(step.label.front() == 'f' ? "forward" : "backward");
                }
            }
        }
        EXPECT_GE(phases.size(), 2U);
        for (auto const& [channel, names] : phases) {
            EXPECT_EQ(names.size(), 1U) << schedule << " channel " << channel;
        }
    }
}

TEST(PipelineMessages, LateMicroBatchesShareBuffers) {
    // 8 MiB per message, four per micro-batch and rank: 64 MiB hold two micro-batches.
    auto const plans = plans_of({{"memory-limit", "64M"}, {"microbatches", "4"}}, 3);
    for (Plan const& plan : plans) {
        for (Step const& step : plan.steps) {
            auto const* send = std::get_if<Send>(&step.operation);
            BufferId const buffer = send != nullptr ? send->buffer : std::get<Recv>(step.operation).buffer;
            EXPECT_EQ(plan.buffers[buffer].shared, step.microbatch >= 2) << step.label << step.microbatch;
        }
    }
    EXPECT_EQ(problem_of(plans), "");
}

}  // namespace
}  // namespace dlmb::pipeline_p2p
