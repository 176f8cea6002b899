// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/bootstrap/node_layout.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

namespace dlmb {
namespace {

TEST(NodeLayout, RanksInEqualBlocksHaveANumberPerNode) {
    EXPECT_EQ(layout_of(std::vector<Rank>{0, 0, 0, 0}).ranks_per_node(), 4);
    EXPECT_EQ(layout_of(std::vector<Rank>{0, 0, 2, 2, 4, 4}).ranks_per_node(), 2);
    EXPECT_EQ(layout_of(std::vector<Rank>{0, 1, 2}).ranks_per_node(), 1);
}

TEST(NodeLayout, RanksThatGoRoundTheNodesHaveNone) {
    NodeLayout const cyclic = layout_of(std::vector<Rank>{0, 1, 0, 1});
    EXPECT_EQ(cyclic.node_of, (std::vector<int>{0, 1, 0, 1}));
    EXPECT_EQ(cyclic.nodes, 2);
    EXPECT_EQ(cyclic.ranks_per_node(), 0);
    NodeLayout const plane = layout_of(std::vector<Rank>{0, 0, 2, 2, 0, 0, 2, 2});
    EXPECT_EQ(plane.nodes, 2);
    EXPECT_EQ(plane.ranks_per_node(), 0);
}

TEST(NodeLayout, UnevenNodesHaveNone) {
    EXPECT_EQ(layout_of(std::vector<Rank>{0, 0, 2}).ranks_per_node(), 0);
    EXPECT_EQ(layout_of(std::vector<Rank>{0, 0, 0, 3}).ranks_per_node(), 0);
    EXPECT_EQ(layout_of(std::vector<Rank>{0, 1, 1, 1}).ranks_per_node(), 0);
}

TEST(NodeLayout, IsGatheredFromWhatEachRankKnows) {
    in_process::run_ranks(5, 2, [](Bootstrap& bootstrap) {
        NodeLayout const layout = gather_layout(bootstrap);
        EXPECT_EQ(layout.node_of, (std::vector<int>{0, 0, 1, 1, 2}));
        EXPECT_EQ(layout.nodes, 3);
    });
}

TEST(SharedMemoryId, TellsKernelsApartAndIsEmptyWithoutTheFolder) {
    namespace fs = std::filesystem;
    fs::path const root = fs::path(::testing::TempDir()) / ("dlmb_shared_memory_id_" + std::to_string(::getpid()));
    fs::create_directories(root / "proc/sys/kernel/random");
    std::ofstream(root / "proc/sys/kernel/random/boot_id") << "11111111-2222\n";
    EXPECT_EQ(shared_memory_id(root), "");
    fs::create_directories(root / "dev/shm");
    std::string const first = shared_memory_id(root);
    EXPECT_NE(first, "");
    EXPECT_EQ(shared_memory_id(root), first);
    std::ofstream(root / "proc/sys/kernel/random/boot_id") << "33333333-4444\n";
    EXPECT_NE(shared_memory_id(root), first);
    fs::remove_all(root);
}

}  // namespace
}  // namespace dlmb
