// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Plans with collectives over thread ranks: what is refused, which method does what, and what runs side by side.
#include "tests/unit/ucx/ucx_rank.hpp"

namespace dlmb::ucx {
namespace {

/// One allreduce of 1024 B over all ranks, whose element is up to the rank.
Plan all_reduce_of(UcxRank const& rank, Bootstrap const& bootstrap, Element element) {
    PlanBuilder builder(bootstrap.rank());
    builder.all_reduce(builder.group(rank.world()), 1024, element, Reduction::sum, "dense");
    return std::move(builder).finish();
}

TEST(UcxCollectives, ReductionsOfDifferentElementsAreRefusedOnAllRanks) {
    in_process::run_ranks(3, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        Plan const plan = all_reduce_of(rank, bootstrap, bootstrap.rank() == 1 ? Element::int32 : Element::fp32);
        EXPECT_NE(rank.compile_error(plan).find("step 0 \"dense\" expects"), std::string::npos);
    });
}

TEST(UcxCollectives, ARaggedExchangeIsDeclinedByBruckOnAllRanksEvenWhereOnlySomeHaveIt) {
    in_process::run_ranks(3, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        Plan const plan =
            rank.exchange([](Rank from, Rank to) { return from == 0 && to == 0 ? Bytes{128} : Bytes{64}; });
        auto const compiled = rank.backend().compile(plan, rank.bind(plan), parse_method("bruck"));
        ASSERT_FALSE(compiled);
        EXPECT_NE(compiled.error().reason.find("\"dispatch\": ucx bruck takes exchanges of equal, packed blocks only"),
                  std::string::npos)
            << compiled.error().reason;
    });
}

TEST(UcxCollectives, AChosenMethodLeavesOtherOperationsToTheirDefault) {
    in_process::run_ranks(3, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        PlanBuilder builder(bootstrap.rank());
        GroupId const world = builder.group(rank.world());
        StepId const gathered = builder.all_gather(world, Bytes{3} * 4096, Element::byte, "gather");
        StepId const cast = builder.broadcast(world, 1, 100'000, Element::byte, "cast", {gathered});
        StepId const worked = builder.compute(1000, "work", {cast}, ProductShape{64, 64, 64});
        builder.all_reduce(world, 40'000, Element::fp16, Reduction::max, "reduce", {worked});
        Plan const plan = std::move(builder).finish();
        Buffers const buffers = rank.bind(plan);
        for (char const* const method :
             {"chain:segment=1000", "scatter_allgather", "knomial:radix=2", "linear", "neighbor"}) {
            auto const compiled = std::move(rank.backend().compile(plan, buffers, parse_method(method))).value();
            rank.run(*compiled, plan, buffers, 1);
            rank.run(*compiled, plan, buffers, 2);
        }
    });
}

TEST(UcxCollectives, CollectivesInPlaceAndSideBySideGetScratchMemoryOfTheirOwn) {
    in_process::run_ranks(4, [](Bootstrap& bootstrap) { UcxRank(bootstrap).collectives_side_by_side(50'000); });
}

TEST(UcxCollectives, AStepStartsWhenItsOwnPredecessorsAreCompleteNotAWave) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) { UcxRank(bootstrap).answer_beside_computation(); });
}

}  // namespace
}  // namespace dlmb::ucx
