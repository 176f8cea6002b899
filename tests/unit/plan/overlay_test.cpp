// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Two plans at the same time: both as they were, and nothing of one for the other.
#include "common/formats/plan/traffic.hpp"
#include "common/formats/plan/transform/overlay.hpp"
#include "tests/unit/plan/plan_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace dlmb {
namespace {

constexpr char const* label = "beside";

std::vector<Plan> both(std::vector<Plan> const& main, std::vector<Plan> const& beside) {
    int channels = 0;
    for (Plan const& plan : beside) {
        channels = std::max(channels, channels_of(plan));
    }
    std::vector<Plan> all;
    for (std::size_t rank = 0; rank < main.size(); ++rank) {
        all.push_back(overlaid(main[rank], beside[rank], label, channels));
    }
    return all;
}

TEST(Overlay, FitsTogetherAndMovesWhatBothMove) {
    std::vector<Plan> const mixed = test::mixed_plans();
    std::vector<Plan> const exchanged =
        test::exchange_plans(4, [](Rank from, Rank to) { return static_cast<Bytes>(100 * from + to + 1); });
    for (auto const& [main, beside] :
         {std::pair(mixed, exchanged), std::pair(exchanged, mixed), std::pair(mixed, mixed)}) {
        std::vector<Plan> const all = both(main, beside);
        EXPECT_EQ(test::texts(validate(all)), "");
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            EXPECT_EQ(traffic_of(all[rank], label).payload, traffic_of(beside[rank]).payload);
            EXPECT_EQ(traffic_of(all[rank]).payload, traffic_of(beside[rank]).payload + traffic_of(main[rank]).payload);
        }
    }
}

TEST(Overlay, NoStepWaitsForOneOfTheOther) {
    std::vector<Plan> const mixed = test::mixed_plans();
    Plan const all = both(mixed, mixed).front();
    std::size_t const first = mixed.front().steps.size();
    ASSERT_EQ(all.steps.size(), 2 * first);
    for (StepId id = 0; id < all.steps.size(); ++id) {
        EXPECT_EQ(phase_of(all.steps[id].label) == label, id < first) << id;
        for (StepId const before : all.steps[id].after) {
            EXPECT_EQ(before < first, id < first) << id;
        }
    }
    // Each keeps its steps, channels and batches: their own numbers, and others than those of the other.
    auto const& sent = std::get<Send>(all.steps[test::mixed::send].operation);
    auto const& sent_by_main = std::get<Send>(all.steps[first + test::mixed::send].operation);
    EXPECT_EQ(sent, std::get<Send>(mixed.front().steps[test::mixed::send].operation));
    EXPECT_EQ(sent_by_main.channel, sent.channel + channels_of(mixed.front()));
    EXPECT_NE(sent_by_main.batch, sent.batch);
}

TEST(Overlay, MovedPlansAreThoseOfOtherRanks) {
    Plan const plan = moved(test::mixed_plans().front(), 3);
    EXPECT_EQ(plan.me, 3);
    EXPECT_EQ(plan.groups.front().members.front(), 3);
}

TEST(Overlay, NamesAreReadAsTheyAreWritten) {
    OverlayNames const names = overlay_names(to_string({"a b.jsonl", "-"}));
    EXPECT_EQ(names.main, "a b.jsonl");
    EXPECT_EQ(names.beside, "-");
    EXPECT_EQ(overlay_names("alone").beside, "");
}

}  // namespace
}  // namespace dlmb
