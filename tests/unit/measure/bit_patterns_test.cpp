// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/validation/bit_patterns.hpp"
#include "common/memory/host_space.hpp"
#include "tests/unit/measure/run_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace dlmb::measure {
namespace {

constexpr int rank_count = 4;
constexpr std::uint64_t jittered = 200;
using Build = std::function<void(PlanBuilder&, GroupId)>;

Build all_reduce(Element element, Reduction reduction = Reduction::sum) {
    return [=](PlanBuilder& builder, GroupId all) { builder.all_reduce(all, 4096, element, reduction, "sum"); };
}

/// On rank 0.
std::uint64_t patterns_of(std::string const& method, Build const& build) {
    std::uint64_t patterns = 0;
    in_process::run_ranks(rank_count, [&](Bootstrap& bootstrap) {
        auto const backend = std::move(in_process::make_backend({bootstrap, YieldPolicy::always})).value();
        PlanBuilder builder(bootstrap.rank());
        build(builder, builder.group(world_of(rank_count)));
        Plan const plan = std::move(builder).finish();
        HostSpace space;
        PlanMemory const memory(space, plan);
        auto const compiled = std::move(backend->compile(plan, memory.buffers, parse_method(method))).value();
        std::uint64_t touched = 0;
        std::uint64_t const mine =
            count_bit_patterns(bootstrap, space, memory.buffers, plan, *compiled, jittered, 1, [&] { ++touched; });
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

// Operands of narrow types are added in other orders, too.
TEST(BitPatterns, AFixedTreeGivesOneAndTheOrderOfArrivalSeveral) {
    for (Element const element : {Element::fp64, Element::fp32, Element::bf16, Element::fp16}) {
        EXPECT_EQ(patterns_of("switch_tree", all_reduce(element)), 1U) << name_of(element);
        EXPECT_GE(patterns_of_arrivals(all_reduce(element)), 2U) << name_of(element);
    }
}

TEST(BitPatterns, NothingIsCountedWhereNoOrderMatters) {
    EXPECT_EQ(patterns_of("default", all_reduce(Element::int32)), 0U);
    EXPECT_EQ(patterns_of("default", all_reduce(Element::fp32, Reduction::max)), 0U);
    EXPECT_EQ(patterns_of("default", [](PlanBuilder& builder,
                                        GroupId all) { builder.all_gather(all, 4096, Element::fp32, "gather"); }),
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
            EXPECT_EQ(patterns_of(std::string(method.name), all_reduce(Element::fp32)), 1U) << method.name;
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
