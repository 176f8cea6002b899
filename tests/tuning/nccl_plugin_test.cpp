// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// libnccl-tuner-dlmb.so as NCCL uses it: opened with RTLD_LOCAL, asked through its symbols. Stands in for NCCL; no GPU.
// What it answers through version 5 of the interface, then that every other version gives the answers of the one table.
#include "common/tools/tune/consumers/nccl/tuner_abi.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <type_traits>
#include <unistd.h>

namespace dlmb::nccl_tuner {
namespace {

constexpr char const* two_rules = "# a comment\n"
                                  "allreduce,1024,65536,tree,ll,-1,-1,8\n"
                                  "allreduce,65537,8589934592,ring,simple,4,2,8,-1,-1\n";

template <class Symbol>
Symbol const& symbol(char const* name) {
    static void* const library = dlopen(DLMB_NCCL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw std::runtime_error(dlerror());
    }
    void* const found = dlsym(library, name);
    if (found == nullptr) {
        throw std::runtime_error(std::string("no symbol ") + name);
    }
    return *static_cast<Symbol const*>(found);
}

Control const& control() {
    return symbol<Control>(control_symbol);
}

/// NCCL's cost table: flat, as many rows as it knows algorithms.
template <int algorithms>
struct Costs {
    std::array<float, std::size_t{algorithms} * protocol_count> values;
    Costs() { values.fill(10.0F); }
    float& at(int algorithm, int protocol) {
        return values.at(static_cast<std::size_t>(algorithm) * protocol_count + static_cast<std::size_t>(protocol));
    }
    /// As NCCL passes it.
    float** pointer() { return reinterpret_cast<float**>(values.data()); }
    bool operator==(Costs const&) const = default;
};

void log(int, unsigned long, char const*, int, char const*, ...) {}

/// Sets DLMB_NCCL_TABLE for the next init to a file with these lines.
class Table {
public:
    explicit Table(std::string const& lines) {
        path_ = std::filesystem::temp_directory_path() / ("dlmb-nccl-" + std::to_string(getpid()) + ".csv");
        std::ofstream(path_) << lines;
        setenv("DLMB_NCCL_TABLE", path_.c_str(), 1);
    }
    ~Table() {
        std::filesystem::remove(path_);
        unsetenv("DLMB_NCCL_TABLE");
    }
    Table(Table const&) = delete;
    Table& operator=(Table const&) = delete;

private:
    std::filesystem::path path_;
};

/// A communicator of version 5.
class Communicator {
public:
    Communicator(std::size_t ranks, std::size_t nodes) {
        EXPECT_EQ(plugin().init(&context_, 1, ranks, nodes, log, nullptr, nullptr), success);
    }
    ~Communicator() { EXPECT_EQ(plugin().finalize(context_), success); }
    Communicator(Communicator const&) = delete;
    Communicator& operator=(Communicator const&) = delete;

    template <int algorithms>
    int ask(Costs<algorithms>& costs, int function, std::size_t bytes, int pipe_ops = 1) const {
        int channels = 0;
        EXPECT_EQ(plugin().get_coll_info(context_, function, bytes, pipe_ops, costs.pointer(), algorithms,
                                         protocol_count, 0, &channels),
                  success);
        return channels;
    }
    static PluginV5 const& plugin() { return symbol<PluginV5>("ncclTunerPlugin_v5"); }

private:
    void* context_ = nullptr;
};

TEST(NcclPlugin, WritesOneCellOfTheFlatTable) {
    Table const table(two_rules);
    Communicator const communicator(8, 2);
    Costs<7> costs;
    EXPECT_EQ(communicator.ask(costs, all_reduce, std::size_t{5} << 30), 4);
    Costs<7> expected;
    expected.values[1 * 3 + 2] = 0.0F;  // ring is 1, simple is 2, rows of 3
    EXPECT_EQ(costs, expected);
}

TEST(NcclPlugin, TouchesNothingWithoutAMatch) {
    Table const table(two_rules);
    Communicator const communicator(8, 1);
    Costs<7> costs;
    for (std::size_t const bytes : {std::size_t{0}, std::size_t{1023}, std::size_t{65537}, std::size_t{1} << 40}) {
        EXPECT_EQ(communicator.ask(costs, all_reduce, bytes), 0);
    }
    EXPECT_EQ(communicator.ask(costs, all_gather, 2048), 0);
    EXPECT_EQ(costs, Costs<7>{});
}

TEST(NcclPlugin, NeverOverwritesWhatIsForbidden) {
    Table const table("allreduce,0,100,ring,ll128,9,-1,-1\nallreduce,101,200,pat,simple,-1,-1,-1\n");
    Communicator const communicator(8, 2);
    Counters const before = control().counters();
    Costs<7> costs;
    costs.at(ring, ll128) = forbidden;
    Costs<7> const as_given = costs;
    EXPECT_EQ(communicator.ask(costs, all_reduce, 8), 0);
    EXPECT_EQ(costs, as_given);
    Costs<6> without_pat;
    EXPECT_EQ(communicator.ask(without_pat, all_reduce, 150), 0);
    EXPECT_EQ(without_pat, Costs<6>{});
    Counters const after = control().counters();
    EXPECT_EQ(after.calls - before.calls, 2U);
    EXPECT_EQ(after.forbidden - before.forbidden, 2U);
    EXPECT_EQ(after.honoured, before.honoured);
}

TEST(NcclPlugin, TakesTheFirstLineThatMatches) {
    Table const table("allreduce,0,100,ring,ll,-1,-1,4\nallreduce,0,100,tree,ll,-1,-1,-1,-1\n");
    Costs<7> four;
    Communicator(4, 2).ask(four, all_reduce, 8);
    EXPECT_EQ(four.at(ring, ll), 0.0F);
    EXPECT_EQ(four.at(tree, ll), 10.0F);
    Costs<7> eight;
    Communicator(8, 2).ask(eight, all_reduce, 8);
    EXPECT_EQ(eight.at(tree, ll), 0.0F);
    EXPECT_EQ(eight.at(ring, ll), 10.0F);
}

TEST(NcclPlugin, HasNoRulesFromAFileThatIsNotRight) {
    for (char const* lines :
         {"allreduce,0,100,ring\n", "allreduce,0,100,ring,ll,-1,-1,-1\nallreduce,0,100,rong,ll,-1,-1,-1\n",
          "allreduce,100,0,ring,ll,-1,-1,-1\n", "allreduce,0,99999999999999999999,ring,ll,-1,-1,-1\n",
          "allreduce,-1,100,ring,ll,-1,-1,-1\n", "allreduce,0,100,ring,ll,-1,-1,-1,4\n",
          "allreduce,0,100,ring,ll,-1,-1,-1,-1,1\n",
          "colltype,minbytes,maxbytes,algorithm,protocol,channels,nNodes,nRanks\n", "\x01\x02"}) {
        Table const table(lines);
        Communicator const communicator(8, 2);
        Costs<7> costs;
        EXPECT_EQ(communicator.ask(costs, all_reduce, 8), 0) << lines;
        EXPECT_EQ(costs, Costs<7>{}) << lines;
    }
}

TEST(NcclPlugin, HasNoRulesWithoutAFile) {
    setenv("DLMB_NCCL_TABLE", "/nonexistent/table.csv", 1);
    Costs<7> costs;
    EXPECT_EQ(Communicator(8, 2).ask(costs, all_reduce, 8), 0);
    unsetenv("DLMB_NCCL_TABLE");
    EXPECT_EQ(Communicator(8, 2).ask(costs, all_reduce, 8), 0);
    EXPECT_EQ(costs, Costs<7>{});
    EXPECT_EQ(Communicator::plugin().get_coll_info(nullptr, all_reduce, 8, 1, costs.pointer(), 7, 3, 0, nullptr),
              success);
}

TEST(NcclPlugin, ForcesAndClears) {
    Table const table(two_rules);
    Communicator const communicator(8, 2);
    EXPECT_EQ(control().version, control_version);
    EXPECT_EQ(control().struct_size, sizeof(Control));
    ASSERT_EQ(control().force(all_reduce, ring, simple, 2), 0);
    Costs<7> forced;
    EXPECT_EQ(communicator.ask(forced, all_reduce, 1024), 2);
    EXPECT_EQ(forced.at(ring, simple), 0.0F);
    EXPECT_EQ(forced.at(tree, ll), 10.0F) << "the rule of the file does not act meanwhile";
    Costs<7> other;
    EXPECT_EQ(communicator.ask(other, all_gather, 1024), 0);
    EXPECT_EQ(other, Costs<7>{}) << "another function is not forced";
    control().clear();
    Costs<7> cleared;
    EXPECT_EQ(communicator.ask(cleared, all_reduce, 1024), 0);
    EXPECT_EQ(cleared.at(tree, ll), 0.0F);
    EXPECT_EQ(control().force(all_reduce, pat + 1, simple, 0), -1);
    EXPECT_EQ(control().force(all_reduce, ring, -1, 0), -1);
    EXPECT_EQ(control().force(function_count, ring, simple, 0), -1);
}

TEST(NcclPlugin, KeepsTwoCommunicatorsApart) {
    Table const table("allreduce,0,100,tree,ll,-1,-1,8\nallreduce,0,100,ring,ll,-1,-1,16\n");
    Communicator const small(8, 1);
    Communicator const large(16, 2);
    Costs<7> of_small;
    small.ask(of_small, all_reduce, 8);
    Costs<7> of_large;
    large.ask(of_large, all_reduce, 8);
    EXPECT_EQ(of_small.at(tree, ll), 0.0F);
    EXPECT_EQ(of_large.at(ring, ll), 0.0F);
    EXPECT_EQ(of_large.at(tree, ll), 10.0F);
}

TEST(NcclPlugin, AnswersTwoThreads) {
    Table const table(two_rules);
    Communicator const communicator(8, 2);
    Counters const before = control().counters();
    constexpr std::uint64_t questions = 10000;
    auto const ask = [&] {
        for (std::uint64_t i = 0; i < questions; ++i) {
            Costs<7> costs;
            communicator.ask(costs, all_reduce, 1024);
            ASSERT_EQ(costs.at(tree, ll), 0.0F);
        }
    };
    std::thread other(ask);
    ask();
    other.join();
    EXPECT_EQ(control().counters().honoured - before.honoured, 2 * questions);
}

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
