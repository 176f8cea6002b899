// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/builder.hpp"
#include "common/plan/plan_text.hpp"

#include <gtest/gtest.h>

#include <array>

namespace dlmb {
namespace {

using Sizes = std::map<Bytes, Bytes>;

/// Two ranks: an exchange with self blocks, two messages one way, an allreduce.
std::vector<Plan> two_ranks() {
    std::vector<Plan> plans;
    for (Rank const me : {0, 1}) {
        PlanBuilder builder(me);
        GroupId const both = builder.group({{0, 1}});
        std::array<Bytes, 2> const sizes{100, 100};
        builder.exchange(both, sizes, sizes, "dispatch");
        for (Bytes const bytes : {Bytes{0}, Bytes{3000}}) {
            if (me == 0) {
                builder.send(both, 1, bytes, 0, -1, "forward.a");
            } else {
                builder.recv(both, 0, bytes, 0, -1, "forward.a");
            }
        }
        builder.compute(10, "think");
        builder.all_reduce(both, 4096, Element::fp32, Reduction::sum, "gradients");
        plans.push_back(std::move(builder).finish());
    }
    return plans;
}

TEST(Volume, CountsMessagesBytesAndSizesByPhaseAndOperation) {
    std::vector<Volume> const found = volumes(two_ranks());
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].phase, "dispatch");
    EXPECT_EQ(found[0].messages, 2U);  // self blocks are no messages
    EXPECT_EQ(found[0].payload_bytes, 400U);
    EXPECT_EQ(found[0].wire_bytes, 200U);
    EXPECT_EQ(found[0].sizes, (Sizes{{64, 2}}));
    EXPECT_EQ(found[1].phase, "forward");
    EXPECT_EQ(found[1].steps, 2U);
    EXPECT_EQ(found[1].sizes, (Sizes{{0, 1}, {2048, 1}}));
    EXPECT_EQ(found[2].kind, OperationKind::all_reduce);
    EXPECT_EQ(found[2].group_ranks, 2U);
    EXPECT_EQ(found[2].payload_bytes, 8192U);
    EXPECT_EQ(found[2].wire_bytes, 8192U);  // 2 S (P-1)/P on each of two ranks
    EXPECT_EQ(found[2].sizes, (Sizes{{4096, 2}}));
}

TEST(Volume, ATableLineSaysItAll) {
    std::string const table = volume_table(volumes(two_ranks()));
    EXPECT_NE(table.find("gradients         allreduce            2           2             2"), std::string::npos)
        << table;
    EXPECT_NE(table.find("0 B:1 2 K:1"), std::string::npos) << table;
}

}  // namespace
}  // namespace dlmb
