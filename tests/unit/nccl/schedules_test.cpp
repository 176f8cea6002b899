// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Pipeline schedules on streams: no circular wait, and every message meets its own other end, though NCCL knows no
// channels.
#include "common/backends/nccl/deadlock.hpp"
#include "tests/unit/nccl/fixture.hpp"
#include "tests/unit/pipeline_p2p/fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace dlmb::nccl {
namespace {

class PipelineOnStreams : public testing::TestWithParam<std::tuple<char const*, char const*, char const*>> {
protected:
    [[nodiscard]] static std::string problem_of(Parameters const& overrides, int ranks) {
        auto const [schedule, mode, compute] = GetParam();
        Parameters const parameters = pipeline_p2p::with({{"sequence", "96"},
                                                          {"hidden", "16"},
                                                          {"vocabulary", "64"},
                                                          {"schedule", schedule},
                                                          {"mode", mode},
                                                          {"compute", compute}},
                                                         overrides);
        FakeCommunicators communicators(ranks);
        std::vector<std::vector<Item>> items;
        std::vector<std::vector<CallPart>> parts;
        std::vector<ChannelOrder> arriving(static_cast<std::size_t>(ranks));
        for (Plan const& plan : pipeline_p2p::plans_of(parameters, ranks)) {
            items.push_back(items_of(plan, communicators));
            parts.push_back(parts_of(plan, items.back(), communicators.lookup(), ranks));
            for (auto const& [peer, channels] : channels_sent(items.back())) {
                arriving[static_cast<std::size_t>(peer)][plan.me] = channels;
            }
        }
        for (std::size_t rank = 0; rank < items.size(); ++rank) {
            if (std::string problem = take_as_sent(items[rank], arriving[rank]); !problem.empty()) {
                return problem;
            }
        }
        auto const waiting = deadlocked(parts);
        auto const stuck =
            std::find_if(waiting.begin(), waiting.end(), [](auto const& item) { return item.has_value(); });
        if (stuck != waiting.end()) {
            return "rank " + std::to_string(stuck - waiting.begin()) + " stands still";
        }
        return messages(items, true) == messages(items, false) ? "" : "messages meet others";
    }

    /// Channel and bytes of what goes from one rank to another, in the order in which the one sends or the other takes
    /// it.
    static std::map<std::pair<Rank, Rank>, std::vector<std::pair<int, std::size_t>>>
    messages(std::vector<std::vector<Item>> const& items, bool sent) {
        std::map<std::pair<Rank, Rank>, std::vector<std::pair<int, std::size_t>>> found;
        for (std::size_t me = 0; me < items.size(); ++me) {
            for (Item const& item : items[me]) {
                auto const* const group = std::get_if<GroupedCall>(&item.work);
                for (Transfer const& transfer : group == nullptr ? std::vector<Transfer>()
                                                : sent           ? group->sends
                                                                 : group->receives) {
                    auto const rank = static_cast<Rank>(me);
                    found[sent ? std::pair(rank, transfer.peer) : std::pair(transfer.peer, rank)].emplace_back(
                        transfer.channel, transfer.bytes);
                }
            }
        }
        return found;
    }
};

TEST_P(PipelineOnStreams, EndsAndPairsMessagesRight) {
    for (int const pp : {2, 4, 8}) {
        for (int const microbatches : {2 * pp, 4 * pp}) {
            EXPECT_EQ(problem_of({{"microbatches", std::to_string(microbatches)}}, pp), "")
                << pp << " ranks, " << microbatches << " micro-batches";
        }
    }
}

TEST_P(PipelineOnStreams, AlsoBetweenTensorParallelRanks) {
    EXPECT_EQ(problem_of({{"pp", "4"}, {"tp", "2"}, {"microbatches", "8"}, {"tp-split", "scatter_gather"}}, 16), "");
}

INSTANTIATE_TEST_SUITE_P(All, PipelineOnStreams,
                         testing::Combine(testing::Values("gpipe", "1f1b", "interleaved", "chimera", "zb_h1", "zb_v",
                                                          "dualpipe"),
                                          testing::Values("batched", "separate", "meta_data", "handshake_data"),
                                          testing::Values("none", "busy")),
                         [](auto const& test) {
                             std::string const schedule = std::get<0>(test.param);
                             return (schedule == "1f1b" ? "one_f_one_b" : schedule) + "_" + std::get<1>(test.param) +
                                    "_" + std::get<2>(test.param);
                         });

}  // namespace
}  // namespace dlmb::nccl
