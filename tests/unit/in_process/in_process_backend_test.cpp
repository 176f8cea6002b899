// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/builder.hpp"
#include "tests/unit/forwarding_bootstrap.hpp"
#include "tests/unit/in_process/in_process_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace dlmb::in_process::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// What the backend sees under mpirun.
class OtherBootstrap final : public ForwardingBootstrap {
public:
    using ForwardingBootstrap::ForwardingBootstrap;
    [[nodiscard]] std::string_view kind() const override { return "other"; }
};

Plan one_exchange(Rank me, Bytes to_other, Bytes from_other) {
    PlanBuilder builder(me);
    auto const pair = [me](Bytes other) {
        return me == 0 ? std::vector<Bytes>{8, other} : std::vector<Bytes>{other, 8};
    };
    builder.exchange(builder.group({{0, 1}}), pair(to_other), pair(from_other), "dispatch");
    return std::move(builder).finish();
}

TEST(InProcessBackend, SaysUnderALauncherHowToRunIt) {
    run_ranks(1, [](Bootstrap& threads) {
        OtherBootstrap bootstrap(threads);
        auto const backend = make_backend("in_process", {bootstrap});
        ASSERT_FALSE(backend);
        EXPECT_EQ(backend.error().reason,
                  "in_process runs ranks as threads; start the program without mpirun and with --ranks N");
    });
}

TEST(InProcessBackend, ItsFirstMethodIsTheDefault) {
    run_test_ranks(2, [](TestRank& rank) {
        EXPECT_EQ(rank.backend().methods()[0].name, "copy");
        Plan const plan = one_exchange(rank.rank(), 8, 8);
        Buffers const& buffers = rank.allocate(plan);
        EXPECT_TRUE(rank.backend().compile(plan, buffers, parse_method("copy")));
        EXPECT_TRUE(rank.backend().compile(plan, buffers, parse_method("default")));
        EXPECT_THROW(static_cast<void>(rank.backend().compile(plan, buffers, parse_method("coyp"))), UsageError);
        EXPECT_THROW(static_cast<void>(rank.backend().compile(plan, buffers, parse_method("copy:depth=2"))),
                     UsageError);
    });
}

TEST(InProcessBackend, DeclinesMemoryThatTheHostCannotCopy) {
    run_test_ranks(1, [](TestRank& rank) {
        EXPECT_TRUE(rank.backend().supports(MemoryKind::host));
        EXPECT_FALSE(rank.backend().supports(MemoryKind::cuda));
        Plan const plan{.me = 0, .groups = {}, .buffers = {}, .steps = {}};
        Buffers const device{MemoryKind::cuda, {}};
        auto const compiled = rank.backend().compile(plan, device, {});
        ASSERT_FALSE(compiled);
        EXPECT_THAT(compiled.error().reason, HasSubstr("cuda"));
    });
}

TEST(InProcessBackend, DeclinesOnAllRanksAnExchangeInPlaceOfSome) {
    run_test_ranks(3, [](TestRank& rank) {
        PlanBuilder builder(rank.rank());
        if (rank.rank() < 2) {
            builder.exchange_in_place(builder.group({{0, 1}}), std::array<Bytes, 2>{64, 64}, "dispatch");
        }
        Plan const plan = std::move(builder).finish();
        EXPECT_FALSE(rank.backend().compile(plan, rank.allocate(plan), {}));
    });
}

TEST(InProcessBackend, NamesBothRanksOfABlockWhoseEndsDifferInSize) {
    std::string const text = error_of(2, [](TestRank& rank) {
        Plan const plan = rank.rank() == 0 ? one_exchange(0, 100, 8) : one_exchange(1, 8, 96);
        static_cast<void>(rank.compile(plan));
    });
    EXPECT_THAT(
        text,
        HasSubstr("step 0 \"dispatch\": rank 0 sends exchange of 100 B to rank 1, which expects exchange of 96 B"));
}

TEST(InProcessBackend, NamesAMessageThatNobodyExpects) {
    std::string const text = error_of(2, [](TestRank& rank) {
        PlanBuilder builder(rank.rank());
        GroupId const all = builder.group({{0, 1}});
        if (rank.rank() == 1) {
            builder.send(all, 0, 17, 0, -1, "forward");
        }
        static_cast<void>(rank.compile(std::move(builder).finish()));
    });
    EXPECT_THAT(text, HasSubstr("step 0 \"forward\": rank 1 sends message of 17 B to rank 0, which expects nothing"));
}

TEST(InProcessBackend, NamesCollectivesThatDoNotFit) {
    std::string const text = error_of(2, [](TestRank& rank) {
        PlanBuilder builder(rank.rank());
        Reduction const reduction = rank.rank() == 0 ? Reduction::sum : Reduction::max;
        builder.all_reduce(builder.group({{0, 1}}), 64, Element::bf16, reduction, "reduce");
        static_cast<void>(rank.compile(std::move(builder).finish()));
    });
    EXPECT_THAT(text, AllOf(HasSubstr("allreduce bf16 sum of 64 B"), HasSubstr("allreduce bf16 max of 64 B")));
}

TEST(InProcessBackend, RefusesAPlanOfAnotherRankAndBlocksOutsideTheirBuffer) {
    auto const refusal = [](Plan const& plan) {
        return error_of(1, [&](TestRank& rank) { static_cast<void>(rank.compile(plan)); });
    };
    EXPECT_THAT(refusal({.me = 1, .groups = {}, .buffers = {}, .steps = {}}), HasSubstr("the plan is rank 1's"));
    EXPECT_THAT(refusal({.me = 0,
                         .groups = {{{0}}},
                         .buffers = {{"small", 8}},
                         .steps = {{Exchange{0, 0, 0, {{0, 4, 8}}, {}}, {}, "x"}}}),
                HasSubstr("8 B at offset 4 of buffer \"small\", which has 8 B"));
}

}  // namespace
}  // namespace dlmb::in_process::testing
