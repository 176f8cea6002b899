// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Cells over the real MPI backend while the library below it does something wrong in some of the timed calls of one
// rank, and in none of the checked ones before and after: caught, and with the probability that is documented.
#include "common/measure/runner.hpp"
#include "common/measure/start/common_start.hpp"
#include "tests/mpi/interception/intercepted_mpi.hpp"
#include "tests/mpi/rig.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb {
namespace {

using intercepted::Fault;
using intercepted::Strike;
using ::testing::HasSubstr;

constexpr Rank victim = 1;
constexpr std::uint64_t round = 6;  // samples, one call each, behind the call that is checked before timing
constexpr std::uint64_t second_round = 1 + round;

Plan ragged_exchange(mpi::Rig const& rig) {
    PlanBuilder builder(rig.me());
    add_exchange(
        builder, rig.world(), rig.me(),
        [](Rank from, Rank to) { return static_cast<Bytes>(64 * (1 + (3 * from + to) % 4)); }, "exchange");
    return std::move(builder).finish();
}

Plan sum_in_place(mpi::Rig const& rig) {
    PlanBuilder builder(rig.me());
    builder.in_place(true);
    builder.all_reduce(builder.group(rig.world()), 4096, Element::fp32, Reduction::sum, "sum");
    return std::move(builder).finish();
}

/// Ranks that measure cells; their clocks are compared once.
class Ranks : public mpi::Rig {
public:
    /// Six rounds.
    record::CellResult measured(Plan const& plan, std::string const& method, std::uint64_t slots,
                                std::optional<Strike> const& what, measure::Mode mode = measure::Mode::isolated) {
        measure::PreparedPoint point(bootstrap(), memory(), {plan}, {.slots = slots});
        measure::Cell cell;
        cell.name = "struck";
        cell.backend = &backend();
        cell.method = {method, {}};
        cell.point = &point;
        EXPECT_EQ(cell.compile(bootstrap()), "");
        measure::RunnerOptions options;
        options.iterations = 6 * round;
        options.warmup = 0;
        options.mode = mode;
        measure::Watchdog watchdog([](measure::HangReport const&) {});
        intercepted::strike(me() == victim ? what : std::nullopt);
        record::CellResult told;
        measure::run_cells({bootstrap(), start_, watchdog, options}, {&cell, 1},
                           [&](measure::Cell const&, record::CellResult const& result) { told = result; });
        intercepted::strike(std::nullopt);
        return told;
    }

private:
    measure::CommonStart start_{bootstrap(), measure::StartRequest::barrier};
};

void expect_caught(record::CellResult const& result, std::string const& what) {
    EXPECT_EQ(result.status, record::Status::invalid) << what;
    EXPECT_THAT(result.reason, HasSubstr("while timing, in round 2")) << what;
    EXPECT_TRUE(result.samples_ns.empty()) << what;
}

TEST(CleanMpi, ARunPassesAndSaysHowManyTimedIterationsWereChecked) {
    Ranks rig;
    for (auto const& [slots, checked] : {std::pair<std::uint64_t, std::uint64_t>{1, 1}, {4, 2}}) {
        record::CellResult const exchange = rig.measured(ragged_exchange(rig), "alltoallv", slots, std::nullopt);
        EXPECT_EQ(exchange.status, record::Status::ok) << exchange.reason;
        EXPECT_EQ(exchange.validation.timed_checked, 6 * checked);
        record::CellResult const sum = rig.measured(sum_in_place(rig), "blocking", slots, std::nullopt);
        EXPECT_EQ(sum.status, record::Status::ok) << sum.reason;
        EXPECT_EQ(sum.validation.timed_checked, 6 * checked);
    }
}

class StruckMpi : public testing::Test {
protected:
    void SetUp() override {
        if (rig.ranks() <= victim) {
            GTEST_SKIP() << "nobody to strike";
        }
    }

    Ranks rig;
};

TEST_F(StruckMpi, EveryFaultThatLastsForARoundIsCaught) {
    for (std::uint64_t const slots : {1U, 4U}) {
        for (Fault const fault : intercepted::every_fault) {
            Strike const strike{fault, second_round, second_round + round - 1};
            expect_caught(rig.measured(ragged_exchange(rig), "alltoallv", slots, strike), std::string(name_of(fault)));
        }
        for (Fault const fault : {Fault::flipped_byte, Fault::nothing_delivered, Fault::overrun}) {
            Strike const strike{fault, second_round, second_round + round - 1};
            expect_caught(rig.measured(sum_in_place(rig), "blocking", slots, strike), std::string(name_of(fault)));
        }
    }
}

TEST_F(StruckMpi, SumsInPlaceThatFollowEachOtherAreCaughtInAnyCallThatMakesThemWrong) {
    for (measure::Mode const mode : {measure::Mode::stream, measure::Mode::osu, measure::Mode::nccl}) {
        auto const run = [&](std::optional<Strike> const& strike) {
            return rig.measured(sum_in_place(rig), "blocking", 1, strike, mode);
        };
        record::CellResult const clean = run(std::nullopt);
        EXPECT_EQ(clean.status, record::Status::ok) << clean.reason;
        EXPECT_GE(clean.validation.timed_checked, 1U) << name_of(mode);
        for (Strike const& strike : {Strike{Fault::flipped_byte, 10, 10},
                                     {Fault::overrun, 10, 10},
                                     {Fault::nothing_delivered, 1, 6 * round}}) {
            record::CellResult const result = run(strike);
            EXPECT_EQ(result.status, record::Status::invalid) << name_of(mode) << " " << name_of(strike.fault);
            EXPECT_THAT(result.reason, HasSubstr("while timing")) << name_of(mode) << " " << name_of(strike.fault);
        }
    }
}

TEST_F(StruckMpi, ASingleCallThatDeliversNothingIsCaughtIfItIsLookedAt) {
    constexpr std::uint64_t slots = 4;
    constexpr std::uint64_t checked = 2;
    std::uint64_t caught = 0;
    for (std::uint64_t call = second_round; call < second_round + round; ++call) {
        Strike const strike{Fault::nothing_delivered, call, call};
        auto const result = rig.measured(ragged_exchange(rig), "alltoallv", slots, strike);
        caught += result.status == record::Status::invalid ? 1 : 0;
    }
    EXPECT_EQ(caught, checked);
}

Plan puts_and_waits(mpi::Rig const& rig) {
    PlanBuilder builder(rig.me());
    GroupId const all = builder.group(rig.world());
    Rank const next = (rig.me() + 1) % rig.ranks();
    Rank const before = (rig.me() + rig.ranks() - 1) % rig.ranks();
    std::vector<PlacedBytes> const page{{64, 4096}};
    builder.put(all, {{next, 1}}, page, "page.put");
    builder.wait_signal(all, {{before, 1}}, page, 0, "page.wait");
    return std::move(builder).finish();
}

TEST_F(StruckMpi, AWindowThatOneRankLacksIsARefusalOnAllAndTheNextPlanRuns) {
    PlanBuilder builder(rig.me());
    std::vector<StepId> after;
    for (char const* const label : {"a", "b", "c"}) {
        after = {add_exchange(
            builder, rig.world(), rig.me(), [](Rank, Rank) { return Bytes{64}; }, label, after)};
    }
    Plan const exchanges = std::move(builder).finish();
    Plan const puts = puts_and_waits(rig);
    auto const refusal = [&](Plan const& plan, char const* method, std::uint64_t window) {
        intercepted::deny_window(rig.me() == victim ? std::optional(window) : std::nullopt);
        auto const made = rig.backend().compile(plan, rig.bind(plan), parse_method(method));
        intercepted::deny_window(std::nullopt);
        return made ? "" : made.error().reason;
    };
    for (std::uint64_t const window : {0U, 1U}) {
        EXPECT_THAT(refusal(exchanges, "put", window), HasSubstr("mpi: put: rank 1: MPI_Win_create"));
        EXPECT_THAT(refusal(exchanges, "get:window=allocate", window), HasSubstr("rank 1: MPI_Win_allocate"));
        EXPECT_THAT(refusal(puts, "put", window), HasSubstr("mpi: put: rank 1: MPI_Win_")) << "data, then flags";
    }
    EXPECT_EQ(rig.run(exchanges, "put"), std::vector<std::string>{});
    EXPECT_EQ(rig.run(puts, "put"), std::vector<std::string>{});
}

}  // namespace
}  // namespace dlmb
