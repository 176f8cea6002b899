// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/bootstrap/node_layout.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

TEST(NodeLayout, HasANumberOfRanksPerNodeWhereNodesAreEqualBlocks) {
    struct Case {
        std::vector<Rank> leaders;
        int nodes, ranks_per_node;
    };
    for (auto const& [leaders, nodes, ranks_per_node] :
         {Case{{0, 0, 0, 0}, 1, 4}, Case{{0, 0, 2, 2, 4, 4}, 3, 2}, Case{{0, 1, 2}, 3, 1}, Case{{0, 1, 0, 1}, 2, 0},
          Case{{0, 0, 2, 2, 0, 0, 2, 2}, 2, 0},                                          // round the nodes
          Case{{0, 0, 2}, 2, 0}, Case{{0, 0, 0, 3}, 2, 0}, Case{{0, 1, 1, 1}, 2, 0}}) {  // uneven ones
        NodeLayout const layout = layout_of(leaders);
        EXPECT_EQ(layout.nodes, nodes);
        EXPECT_EQ(layout.ranks_per_node(), ranks_per_node);
        EXPECT_EQ(layout.node_of.size(), leaders.size());
    }
    EXPECT_EQ(layout_of(std::vector<Rank>{0, 1, 0, 1}).node_of, (std::vector<int>{0, 1, 0, 1}));
}

TEST(NodeLayout, IsGatheredFromWhatEachRankKnows) {
    in_process::run_ranks(5, 2, [](Bootstrap& bootstrap) {
        NodeLayout const layout = gather_layout(bootstrap);
        EXPECT_EQ(layout.node_of, (std::vector<int>{0, 0, 1, 1, 2}));
        EXPECT_EQ(layout.nodes, 3);
    });
}

TEST(SharedMemoryId, TellsKernelsApartAndIsEmptyWithoutTheFolder) {
    record::TemporaryFolder const folder;
    auto const root = folder / "";
    record::write_file(root / "proc/sys/kernel/random/boot_id", "11111111-2222\n");
    EXPECT_EQ(shared_memory_id(root), "");
    std::filesystem::create_directories(root / "dev/shm");
    std::string const first = shared_memory_id(root);
    EXPECT_NE(first, "");
    EXPECT_EQ(shared_memory_id(root), first);
    record::write_file(root / "proc/sys/kernel/random/boot_id", "33333333-4444\n");
    EXPECT_NE(shared_memory_id(root), first);
}

}  // namespace
}  // namespace dlmb
