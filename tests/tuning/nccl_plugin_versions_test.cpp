// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every version of the interface gives the answers of the one table.
#include "tests/tuning/nccl_plugin.hpp"

#include <type_traits>

namespace dlmb::nccl_tuner {
namespace {

template <class Plugin>
void expect_old_interface(char const* name) {
    Table const table(two_rules);
    auto const& plugin = symbol<Plugin>(name);
    EXPECT_STREQ(plugin.name, "DLMB");
    void* context = nullptr;
    ASSERT_EQ(plugin.init(8, 2, log, &context), success);
    Costs<7> costs;
    int channels = 0;
    if constexpr (std::is_same_v<Plugin, PluginV3>) {
        EXPECT_EQ(plugin.get_coll_info(context, all_reduce, 1024, 1, costs.pointer(), 7, 3, &channels), success);
    } else {
        EXPECT_EQ(plugin.get_coll_info(context, all_reduce, 1024, 1, costs.pointer(), 7, 3, 1, &channels), success);
    }
    EXPECT_EQ(costs.at(tree, ll), 0.0F);
    EXPECT_EQ(channels, 0);
    EXPECT_EQ(plugin.destroy(context), success);
}

TEST(NcclPlugin, AnswersVersion3) {
    expect_old_interface<PluginV3>("ncclTunerPlugin_v3");
}
TEST(NcclPlugin, AnswersVersion4) {
    expect_old_interface<PluginV4>("ncclTunerPlugin_v4");
}

TEST(NcclPlugin, AnswersVersion2WithNumbers) {
    Table const table("allreduce,0,65536,tree,ll,3,-1,-1\nallgather,0,100,nvls,simple,-1,-1,-1\n"
                      "broadcast,0,100,pat,simple,-1,-1,-1\n");
    auto const& plugin = symbol<PluginV2>("ncclTunerPlugin_v2");
    void* context = nullptr;
    ASSERT_EQ(plugin.init(8, 2, log, &context), success);
    int algorithm = -1;
    int protocol = -1;
    int channels = 0;
    EXPECT_EQ(plugin.get_coll_info(context, all_reduce, 65537, 0, 0, 1, &algorithm, &protocol, &channels), success);
    EXPECT_EQ(algorithm, -1) << "no rule, so NCCL chooses";
    EXPECT_EQ(plugin.get_coll_info(context, all_gather, 8, 0, 0, 1, &algorithm, &protocol, &channels), success);
    EXPECT_EQ(algorithm, -1) << "no NVLS here";
    EXPECT_EQ(plugin.get_coll_info(context, broadcast, 8, 0, 0, 1, &algorithm, &protocol, &channels), success);
    EXPECT_EQ(algorithm, -1) << "NCCL of version 2 has no pat";
    EXPECT_EQ(plugin.get_coll_info(context, all_reduce, 65536, 0, 0, 1, &algorithm, &protocol, &channels), success);
    EXPECT_EQ(algorithm, tree);
    EXPECT_EQ(protocol, ll);
    EXPECT_EQ(channels, 3);
    EXPECT_EQ(plugin.destroy(context), success);
}

TEST(NcclPlugin, HasVersion6WithoutAChunkSize) {
    auto const& plugin = symbol<PluginV6>("ncclTunerPlugin_v6");
    EXPECT_STREQ(plugin.name, "DLMB");
    EXPECT_EQ(plugin.get_chunk_size, nullptr);
    Table const table(two_rules);
    void* context = nullptr;
    ASSERT_EQ(plugin.init(&context, 1, 8, 2, log, nullptr, nullptr), success);
    Costs<7> costs;
    int channels = 0;
    EXPECT_EQ(plugin.get_coll_info(context, all_reduce, 1024, 1, costs.pointer(), 7, 3, 0, &channels), success);
    EXPECT_EQ(costs.at(tree, ll), 0.0F);
    EXPECT_EQ(plugin.finalize(context), success);
}

}  // namespace
}  // namespace dlmb::nccl_tuner
