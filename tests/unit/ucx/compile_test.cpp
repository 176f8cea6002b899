// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/compute.hpp"
#include "tests/unit/ucx/ucx_rank.hpp"

namespace dlmb::ucx {
namespace {

Bytes ragged(Rank from, Rank to) {
    return static_cast<Bytes>((from * 7 + to * 3) % 5) * 3001;
}

TEST(UcxCompile, ASizeThatTheSidesDoNotAgreeOnIsRefusedOnAllRanksWithOneText) {
    in_process::run_ranks(3, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        // Rank 2 believes that rank 0 sends it 4096 B; rank 0 plans 8192 B.
        Rank const me = bootstrap.rank();
        Plan const plan = rank.exchange(
            [me](Rank from, Rank to) { return from == 0 && to == 2 && me == 0 ? Bytes{8192} : Bytes{4096}; });
        std::string const error = rank.compile_error(plan);
        EXPECT_NE(error.find("rank 2 step 0 \"dispatch\" expects 4096 B from rank 0, which sends 8192 B"),
                  std::string::npos)
            << error;
    });
}

TEST(UcxCompile, ASendThatNobodyExpectsAndAReceiveThatNobodyServesAreRefused) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        for (bool const sender_knows : {true, false}) {
            Rank const knowing = sender_knows ? 0 : 1;
            Plan const plan = rank.exchange([&](Rank from, Rank to) {
                return from == 0 && to == 1 && bootstrap.rank() == knowing ? Bytes{64} : Bytes{0};
            });
            EXPECT_NE(rank.compile_error(plan), "");
        }
    });
}

// The GPU does what a plan computes wherever UCX takes the memory for a device's, managed memory included, which the
// host reaches as well. Rows that the host is to move (--pack host) would be labelled wrongly there.
TEST(UcxCompile, RowsInManagedMemoryAreMovedByTheGpuAndByNobodyElse) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        for (MemoryKind const kind : every_memory_kind) {
            bool const on_gpu = on_device(kind) || kind == MemoryKind::managed;
            for (Processor const by : {Processor::host, Processor::device}) {
                PlanBuilder builder(0);
                RowOrder const turned{2, {2}, {{.tensor = 1, .packed = 0}, {.tensor = 0, .packed = 1}}};
                builder.rearranged_exchange(builder.group(rank.world()), turned, turned, 8, by, "dispatch");
                std::string const why_not = why_no_rearrangement(std::move(builder).finish(), rank.backend(), kind);
                EXPECT_EQ(why_not.empty(), on_gpu == (by == Processor::device)) << name_of(kind) << ": " << why_not;
            }
        }
    });
}

TEST(UcxCompile, ABlockToOneselfOfTwoSizesIsRefused) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        Plan plan = rank.exchange([](Rank, Rank) { return Bytes{4096}; });
        std::get<Exchange>(plan.steps[0].operation).recv[0].bytes = 1024;
        EXPECT_NE(rank.compile_error(plan), "");
    });
}

TEST(UcxCompile, PlansInUseAtTheSameTimeNeverTakeEachOthersMessages) {
    in_process::run_ranks(4, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        std::vector<Plan> plans;
        std::vector<Buffers> buffers;
        std::vector<std::unique_ptr<CompiledPlan>> compiled;
        for (Bytes const draw : {Bytes{1}, Bytes{2}, Bytes{3}}) {
            plans.push_back(rank.exchange([draw](Rank from, Rank to) { return ragged(from, to) * draw; }));
            buffers.push_back(rank.bind(plans.back()));
            compiled.push_back(std::move(rank.backend().compile(plans.back(), buffers.back(), {})).value());
        }
        for (std::uint32_t iteration = 0; iteration < 30; ++iteration) {
            std::size_t const draw = iteration * 7 % 3;
            rank.run(*compiled[draw], plans[draw], buffers[draw], iteration);
        }
    });
}

TEST(UcxCompile, MemoryThatThisUcxCannotReadIsDeclined) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        if (rank.backend().supports(MemoryKind::cuda)) {
            GTEST_SKIP() << "this UCX has CUDA";
        }
        Plan const plan = rank.exchange(ragged);
        Buffers buffers = rank.bind(plan);
        buffers.kind = MemoryKind::cuda;
        auto const compiled = rank.backend().compile(plan, buffers, {});
        ASSERT_FALSE(compiled);
        EXPECT_NE(compiled.error().reason.find("cuda"), std::string::npos) << compiled.error().reason;
    });
}

TEST(UcxBackend, RecordsVersionTransportsAndPolicies) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        EXPECT_EQ(rank.backend().provenance().at("transports"), "none yet");
        Plan const plan = rank.exchange([](Rank, Rank) { return Bytes{64}; });
        auto const compiled = std::move(rank.backend().compile(plan, rank.bind(plan), {})).value();
        Provenance const facts = rank.backend().provenance();
        EXPECT_EQ(facts.at("error_mode"), "none");
        EXPECT_EQ(facts.at("progress_yield"), "yes") << "the test asks for YieldPolicy::always";
        EXPECT_NE(facts.at("ucx_version"), "");
        EXPECT_EQ(facts.at("memory_types").rfind("host", 0), 0U) << facts.at("memory_types");
        EXPECT_NE(facts.at("transports"), "");
        EXPECT_NE(facts.at("transports"), "none yet");
        rank.backend().quiesce();
    });
}

}  // namespace
}  // namespace dlmb::ucx
