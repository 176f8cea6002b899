// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One rank that fails ends all of them, and what is told is its failure, not the consequences.
#include "common/bootstrap/in_process/in_process_bootstrap.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>

namespace dlmb::in_process {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(int ranks, RankBody const& body) {
    return message_of<Error>([&] { run_ranks(ranks, body); });
}

TEST(InProcessFailure, AThrowingRankReleasesTheOthersAndItsNumberIsInTheMessage) {
    std::atomic<int> left{0};
    std::string const text = error_of(4, [&](Bootstrap& bootstrap) {
        if (bootstrap.rank() == 2) {
            throw Error("out of widgets");
        }
        try {
            bootstrap.barrier();
        } catch (PeerFailed const& peer) {
            EXPECT_THAT(peer.what(), AllOf(HasSubstr("rank 2 failed"), HasSubstr("out of widgets")));
            ++left;
            throw;
        }
    });
    EXPECT_THAT(text, AllOf(HasSubstr("rank 2: out of widgets"), HasSubstr("in_process_failure_test.cpp")));
    EXPECT_EQ(left, 3);
    EXPECT_EQ(text.find("\n  at "), text.rfind("\n  at ")) << "the position of the throw is named once: " << text;
}

TEST(InProcessFailure, NamesTheRankAndTheCallThatFailed) {
    struct Fault {
        int ranks;
        RankBody body;
        std::vector<std::string> said;
    };
    Fault const faults[] = {
        {2,
         [](Bootstrap& bootstrap) {
             if (bootstrap.rank() == 1) {
                 throw std::out_of_range("index 7");
             }
             bootstrap.barrier();
         },
         {"rank 1: index 7"}},
        {1, [](Bootstrap&) { throw 7; }, {"rank 0: an exception that is no std::exception"}},
        {2,
         [](Bootstrap& bootstrap) {
             if (bootstrap.rank() == 0) {
                 (void)bootstrap.all_gather({});
             } else {
                 (void)bootstrap.exchange({});
             }
         },
         {"Bootstrap::all_gather", "Bootstrap::exchange"}},
        {2,
         [](Bootstrap& bootstrap) {
             (void)bootstrap.exchange({{2, {}}});
         },
         {"2 is not one of 2"}},
        {2,
         [](Bootstrap& bootstrap) {
             Blob blob;
             bootstrap.broadcast(blob, -1);
         },
         {"root -1"}},
        {2,
         [](Bootstrap& bootstrap) {
             std::vector<std::int64_t> values(static_cast<std::size_t>(bootstrap.rank()) + 1);
             bootstrap.all_reduce(values, Fold::sum);
         },
         {"Bootstrap::all_reduce", " values, rank "}},
    };
    for (Fault const& fault : faults) {
        std::string const text = error_of(fault.ranks, fault.body);
        for (std::string const& part : fault.said) {
            EXPECT_THAT(text, HasSubstr(part));
        }
    }
}

TEST(InProcessFailure, UsageErrorsStayUsageErrors) {
    EXPECT_THROW(run_ranks(3, [](Bootstrap&) { throw UsageError("--hidden 0"); }), UsageError);
    EXPECT_THROW(run_ranks(0, [](Bootstrap&) {}), UsageError);
    EXPECT_THROW(run_ranks(2, -1, [](Bootstrap&) {}), UsageError);
}

TEST(InProcessFailure, ARankThatSwallowsTheNewsIsToldAgainAtItsNextCall) {
    std::atomic<int> told{0};
    std::string const text = error_of(2, [&](Bootstrap& bootstrap) {
        if (bootstrap.rank() == 0) {
            throw Error("gone");
        }
        for (int call = 0; call < 3; ++call) {
            EXPECT_THROW(bootstrap.barrier(), PeerFailed);
            ++told;
        }
    });
    EXPECT_THAT(text, HasSubstr("rank 0: gone"));
    EXPECT_EQ(told, 3);
}

TEST(InProcessFailureDeathTest, AbortEndsTheProcessWithTheCodeAndLosesNoOutput) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(run_ranks(3,
                          [](Bootstrap& bootstrap) {
                              if (bootstrap.rank() == 1) {
                                  // Buffered, so that only a flush can bring it out.
                                  static_cast<void>(std::setvbuf(stderr, nullptr, _IOFBF, 4096));
                                  static_cast<void>(std::fputs("last words", stderr));
                                  bootstrap.abort(74);
                              }
                              bootstrap.barrier();
                          }),
                testing::ExitedWithCode(74), "last words");
}

}  // namespace
}  // namespace dlmb::in_process
