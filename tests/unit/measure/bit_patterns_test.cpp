// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/measure/validation/bit_patterns.hpp"
#include "common/memory/host_space.hpp"
#include "tests/unit/measure/run_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace dlmb::measure {
namespace {

constexpr int rank_count = 4;
constexpr std::uint64_t jittered = 200;
using Build = std::function<void(PlanBuilder&, GroupId)>;

void all_reduce(PlanBuilder& builder, GroupId all, Element element) {
    builder.all_reduce(all, 4096, element, Reduction::sum, "sum");
}

/// On rank 0.
std::uint64_t patterns_of(std::string const& method, Build const& build) {
    std::uint64_t patterns = 0;
    in_process::run_ranks(rank_count, [&](Bootstrap& bootstrap) {
        auto const backend = std::move(in_process::make_backend({bootstrap, YieldPolicy::always})).value();
        Group everyone{std::vector<Rank>(rank_count)};
        std::iota(everyone.members.begin(), everyone.members.end(), 0);
        PlanBuilder builder(bootstrap.rank());
        build(builder, builder.group(everyone));
        Plan const plan = std::move(builder).finish();
        HostSpace space;
        std::vector<Allocation> allocations;
        Buffers buffers;
        for (Buffer const& buffer : plan.buffers) {
            allocations.push_back(space.allocate(buffer.bytes));
            buffers.base.push_back(allocations.back().data());
        }
        auto const compiled = std::move(backend->compile(plan, buffers, parse_method(method))).value();
        std::uint64_t touched = 0;
        std::uint64_t const mine =
            count_bit_patterns(bootstrap, space, buffers, plan, *compiled, jittered, 1, [&] { ++touched; });
        EXPECT_EQ(touched, mine == 0 ? 0 : jittered);
        if (bootstrap.rank() == 0) {
            patterns = mine;
        }
    });
    return patterns;
}

/// Where threads share few processors, the scheduler may let ranks arrive in one order for long: asked again until they
/// did not, at most 20 times.
std::uint64_t patterns_of_arrivals(Build const& build) {
    std::uint64_t most = 0;
    for (int attempt = 0; attempt < 20 && most < 2; ++attempt) {
        most = std::max(most, patterns_of("switch_single", build));
    }
    return most;
}

TEST(BitPatterns, AFixedTreeGivesOneAndTheOrderOfArrivalSeveral) {
    auto const sum = [](PlanBuilder& builder, GroupId all) { all_reduce(builder, all, Element::fp32); };
    EXPECT_EQ(patterns_of("switch_tree", sum), 1U);
    EXPECT_GE(patterns_of_arrivals(sum), 2U);
}

TEST(BitPatterns, NarrowTypesAreAddedInOtherOrdersToo) {
    for (Element const element : {Element::fp64, Element::bf16, Element::fp16}) {
        auto const sum = [&](PlanBuilder& builder, GroupId all) { all_reduce(builder, all, element); };
        EXPECT_GE(patterns_of_arrivals(sum), 2U) << name_of(element);
        EXPECT_EQ(patterns_of("switch_tree", sum), 1U) << name_of(element);
    }
}

TEST(BitPatterns, NothingIsCountedWhereNoOrderMatters) {
    EXPECT_EQ(
        patterns_of("default", [](PlanBuilder& builder, GroupId all) { all_reduce(builder, all, Element::int32); }),
        0U);
    EXPECT_EQ(patterns_of("default", [](PlanBuilder& builder,
                                        GroupId all) { builder.all_gather(all, 4096, Element::fp32, "gather"); }),
              0U);
    EXPECT_EQ(patterns_of("default",
                          [](PlanBuilder& builder, GroupId all) {
                              builder.all_reduce(all, 4096, Element::fp32, Reduction::max, "largest");
                          }),
              0U);
}

// The promises of the other backends: tests/mpi/stability_test.cpp.
TEST(BitPatterns, EveryMethodThatPromisesTheSameBitsOverArrivalsHasThem) {
    std::vector<MethodInfo> methods;
    in_process::run_ranks(1, [&](Bootstrap& bootstrap) {
        auto const backend = std::move(in_process::make_backend({bootstrap, YieldPolicy::always})).value();
        methods.assign(backend->methods().begin(), backend->methods().end());
    });
    std::uint64_t promised = 0;
    for (MethodInfo const& method : methods) {
        if (method.stable.over_arrival.has(OperationKind::all_reduce)) {
            auto const sum = [](PlanBuilder& builder, GroupId all) { all_reduce(builder, all, Element::fp32); };
            EXPECT_EQ(patterns_of(std::string(method.name), sum), 1U) << method.name;
            ++promised;
        }
    }
    EXPECT_EQ(promised, 2U) << "copy and switch_tree";
}

TEST(BitPatterns, SharesOfAReduceScatterAreCompared) {
    EXPECT_EQ(patterns_of("default",
                          [](PlanBuilder& builder, GroupId all) {
                              builder.reduce_scatter(all, 4096, Element::fp32, Reduction::sum, "sum");
                          }),
              1U)
        << "in_process adds in the order of ranks";
}

}  // namespace
}  // namespace dlmb::measure
