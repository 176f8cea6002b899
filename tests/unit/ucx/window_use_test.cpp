// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// What goes through windows and how large copies are written there: what the user says, or what is fastest in a trial.
#include "common/backends/ucx/shared_windows.hpp"
#include "common/backends/ucx/window_trial.hpp"
#include "tests/unit/ucx/ucx_environment.hpp"
#include "tests/unit/ucx/ucx_rank.hpp"

#include <array>

namespace dlmb::ucx {
namespace {

constexpr Bytes small = 1'000;
constexpr Bytes large = 40'000;

std::string recorded(CompiledPlan const& compiled, char const* fact = "window_copies") {
    Provenance const facts = compiled.provenance();
    auto const found = facts.find(fact);
    return found == facts.end() ? "nothing" : found->second;
}

void expect_alike(Bootstrap& bootstrap, std::string const& text) {
    auto const bytes = std::as_bytes(std::span(text));
    for (Blob const& other : bootstrap.all_gather(bytes)) {
        EXPECT_TRUE(std::equal(other.begin(), other.end(), bytes.begin(), bytes.end())) << text;
    }
}

/// Of a plan whose blocks are all `large`.
void expect_that_it_was_tried(CompiledPlan const& compiled) {
    std::string const from = recorded(compiled, "messages_from");
    EXPECT_TRUE(from == "16384" || from == "65536" || from == "262144" || from == "inf") << from;
    std::string const copies = recorded(compiled);
    EXPECT_TRUE(from == "16384" ? copies == "nothing" : copies == "cached" || copies == "streamed") << copies;
}

/// What is recorded of an exchange that then delivers what it should.
std::string exchanged(UcxRank& rank, Bytes bytes, char const* method) {
    Plan const plan = rank.exchange([bytes](Rank from, Rank to) { return bytes + static_cast<Bytes>(from * 3 + to); });
    Buffers const buffers = rank.bind(plan);
    auto const compiled = std::move(rank.backend().compile(plan, buffers, parse_method(method))).value();
    for (std::uint32_t iteration = 1; iteration <= 3; ++iteration) {
        rank.run(*compiled, plan, buffers, iteration);
    }
    return recorded(*compiled);
}

TEST(WindowCopies, OnlyLargeCopiesIntoAWindowDependOnTheWay) {
    for (auto const& [to, past_caches, when_cached] : {std::tuple{algorithms::SharedSpace::window, true, false},
                                                       std::tuple{algorithms::SharedSpace::window, false, false},
                                                       std::tuple{algorithms::SharedSpace::output, true, true}}) {
        algorithms::SharedStep step;
        step.to.space = to;
        step.past_caches = past_caches;
        EXPECT_EQ(goes_past_caches(step, WindowCopies::cached), when_cached);
        EXPECT_EQ(goes_past_caches(step, WindowCopies::streamed), past_caches);
    }
}

TEST(WindowCopies, AreTheUsersAndDeliverTheSame) {
    for (int const ranks : {2, 3, 5}) {
        in_process::run_ranks(ranks, [](Bootstrap& bootstrap) {
            UcxRank rank(bootstrap);
            EXPECT_EQ(exchanged(rank, large, "shared_memory:window_copies=cached"), "cached");
            EXPECT_EQ(exchanged(rank, large, "shared_memory:window_copies=streamed"), "streamed");
        });
    }
}

TEST(WindowCopies, AreTriedAndAlikeOnAllRanksWhereTheUserDoesNotSay) {
    for (int const ranks : {2, 3, 5}) {
        in_process::run_ranks(ranks, [](Bootstrap& bootstrap) {
            UcxRank rank(bootstrap);
            for (int plan = 0; plan < 3; ++plan) {
                std::string const found = exchanged(rank, large, "shared_memory");
                EXPECT_TRUE(found == "cached" || found == "streamed") << found;
                expect_alike(bootstrap, found);
            }
        });
    }
}

TEST(WindowCopies, OfSmallBlocksAndMessagesAreNotRecorded) {
    in_process::run_ranks(3, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        EXPECT_EQ(exchanged(rank, small, "shared_memory"), "nothing");
        EXPECT_EQ(exchanged(rank, large, "linear"), "nothing");
    });
}

TEST(WindowCopies, AreTriedByAllRanksWhereOnlySomeHaveLargeBlocks) {
    in_process::run_ranks(4, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        Plan const plan = rank.exchange([](Rank from, Rank to) { return from + to == 1 ? large : Bytes{0}; });
        Buffers const buffers = rank.bind(plan);
        auto const compiled = std::move(rank.backend().compile(plan, buffers, parse_method("shared_memory"))).value();
        rank.run(*compiled, plan, buffers, 1);
        EXPECT_NE(recorded(*compiled), "nothing") << "said by all ranks: rank 0 writes the record";
    });
}

TEST(WindowCopies, AreAlikeOnNodesOfDifferentSizes) {
    in_process::run_ranks(3, 2, [](Bootstrap& bootstrap) {  // two ranks and a rank alone
        UcxRank rank(bootstrap);
        PlanBuilder builder(bootstrap.rank());
        if (bootstrap.rank() < 2) {
            builder.all_gather(builder.group({{0, 1}}), 2 * large, Element::byte, "gather");
        }
        Plan const plan = std::move(builder).finish();
        Buffers const buffers = rank.bind(plan);
        auto const compiled = std::move(rank.backend().compile(plan, buffers, {})).value();
        rank.run(*compiled, plan, buffers, 1);
        expect_that_it_was_tried(*compiled);
        expect_alike(bootstrap, recorded(*compiled) + recorded(*compiled, "messages_from"));
    });
}

TEST(WindowCopies, AreTriedForPlansOfAnotherContext) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        PlanBuilder builder(bootstrap.rank());
        builder.broadcast(builder.group({{0, 1}}), 1, large, Element::byte, "cast");
        Plan const plan = std::move(builder).finish();
        Buffers const buffers = rank.bind(plan);
        auto const compiled =
            std::move(rank.backend().compile(plan, buffers, parse_method("linear:rndv_thresh=64K"))).value();
        compiled->activate();
        rank.run(*compiled, plan, buffers, 1);
        EXPECT_EQ(recorded(*compiled, "messages_from"), "inf")
            << "the messages that were tried are not of that context";
        EXPECT_NE(recorded(*compiled), "nothing");
    });
}

TEST(WindowLimit, IsTheUsersAndLargerBlocksArriveBesideTheOthers) {
    for (int const ranks : {2, 3, 5}) {
        in_process::run_ranks(ranks, [](Bootstrap& bootstrap) {
            UcxRank rank(bootstrap);
            // Windows alone, both, messages alone; 0 to 300 kB, the own blocks on both sides as well.
            Plan const plan =
                rank.exchange([](Rank from, Rank to) { return static_cast<Bytes>((from * 5 + to * 3) % 7) * 50'021; });
            for (char const* const limit : {"inf", "150000", "1"}) {
                Buffers const buffers = rank.bind(plan);
                std::string const method = std::string("auto:window_copies=cached:messages_from=") + limit;
                auto const compiled = std::move(rank.backend().compile(plan, buffers, parse_method(method))).value();
                for (std::uint32_t iteration = 1; iteration <= 20; ++iteration) {
                    rank.run(*compiled, plan, buffers, iteration);
                }
                EXPECT_EQ(recorded(*compiled, "messages_from"), limit);
            }
        });
    }
}

TEST(WindowLimit, IsTriedAndAlikeOnAllRanks) {
    in_process::run_ranks(3, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        Plan const plan = rank.exchange([](Rank, Rank) { return large; });
        Buffers const buffers = rank.bind(plan);
        auto const compiled = std::move(rank.backend().compile(plan, buffers, {})).value();
        rank.run(*compiled, plan, buffers, 1);
        expect_that_it_was_tried(*compiled);
        expect_alike(bootstrap, recorded(*compiled, "messages_from"));
    });
}

TEST(WindowTrial, TriesNextWhereItMayTurnAroundAndPutsTheLimitWhereMessagesWin) {
    WindowTimes const windows_win{.cached = 2, .streamed = 4, .messages = 3};
    WindowTimes const messages_win{.cached = 4, .streamed = 5, .messages = 3};
    EXPECT_EQ(next_tried_block(windows_win), Bytes{256} << 10);
    EXPECT_EQ(next_tried_block(messages_win), Bytes{16} << 10);
    EXPECT_EQ(fastest_use(windows_win, windows_win).messages_from, WindowUse::never);
    EXPECT_EQ(fastest_use(windows_win, messages_win).messages_from, Bytes{256} << 10);
    EXPECT_EQ(fastest_use(messages_win, windows_win).messages_from, Bytes{64} << 10);
    EXPECT_EQ(fastest_use(messages_win, messages_win).messages_from, Bytes{16} << 10);
}

TEST(WindowTrial, TakesTheCopiesThatAreFasterInTheMiddle) {
    WindowTimes const cached{.cached = 2, .streamed = 4, .messages = 3};
    WindowTimes const streamed{.cached = 4, .streamed = 2, .messages = 3};
    EXPECT_EQ(fastest_use(cached, streamed).copies, WindowCopies::cached);
    EXPECT_EQ(fastest_use(streamed, cached).copies, WindowCopies::streamed);
    EXPECT_EQ(fastest_use(streamed, cached).messages_from, Bytes{256} << 10)
        << "messages are compared with what is used, not with the other copies";
}

TEST(WindowTrial, IsLeftOutWhereNoMemoryCanBeMapped) {
    UcxEnvironment const environment(UcxEnvironment::Values{{"UCX_TLS", "self,tcp"}});
    for (char const* const first :
         {"default", "shared_memory", "auto:window_copies=cached", "linear:rndv_thresh=64K"}) {
        in_process::run_ranks(2, [first](Bootstrap& bootstrap) {
            UcxRank rank(bootstrap);
            for (char const* const method : {first, "shared_memory", "default"}) {
                Plan const plan = rank.exchange([](Rank, Rank) { return large; });
                Buffers const buffers = rank.bind(plan);
                auto const compiled = rank.backend().compile(plan, buffers, parse_method(method));
                EXPECT_EQ(bool(compiled), std::string(method) != "shared_memory") << method;
                if (compiled) {
                    compiled.value()->activate();
                    rank.run(*compiled.value(), plan, buffers, 1);
                    EXPECT_EQ(recorded(*compiled.value(), "messages_from"), "nothing") << method;
                    EXPECT_EQ(recorded(*compiled.value()), "nothing") << method;
                }
            }
        });
    }
}

TEST(WindowLimit, IsNotRecordedWhereItDecidesNothing) {
    in_process::run_ranks(3, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        PlanBuilder builder(bootstrap.rank());
        builder.all_gather(builder.group(rank.world()), 3 * large, Element::byte, "gather");
        Plan const gather = std::move(builder).finish();
        Plan const few = rank.exchange([](Rank, Rank) { return small; });
        Buffers const buffers_of_few = rank.bind(few);
        auto const given =
            std::move(rank.backend().compile(few, buffers_of_few, parse_method("auto:messages_from=500"))).value();
        EXPECT_EQ(recorded(*given, "messages_from"), "500") << "the user's holds for small blocks as well";
        for (auto const& [plan, method] :
             {std::pair{few, "default"}, std::pair{rank.exchange([](Rank, Rank) { return large; }), "linear"},
              std::pair{rank.exchange([](Rank, Rank) { return large; }), "shared_memory"},
              std::pair{gather, "default"}}) {
            Buffers const buffers = rank.bind(plan);
            auto const compiled = std::move(rank.backend().compile(plan, buffers, parse_method(method))).value();
            EXPECT_EQ(recorded(*compiled, "messages_from"), "nothing") << method;
        }
    });
}

TEST(WindowLimit, SizesThatDisagreeAcrossItAreRefused) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap);
        for (Rank const who : {0, 1}) {
            Plan const plan =
                rank.exchange([&](Rank, Rank) { return bootstrap.rank() == who ? Bytes{1000} : Bytes{3000}; });
            EXPECT_THROW(static_cast<void>(
                             rank.backend().compile(plan, rank.bind(plan), parse_method("auto:messages_from=2000"))),
                         Error);
        }
    });
}

}  // namespace
}  // namespace dlmb::ucx
