// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One rank that fails ends all of them, and what is told is its failure, not the consequences.
#include "common/bootstrap/in_process/in_process_bootstrap.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>

namespace dlmb::in_process {
namespace {

std::string error_of(int ranks, RankBody const& body) {
    try {
        run_ranks(ranks, body);
    } catch (Error const& error) {
        return error.what();
    }
    return "no error";
}

bool contains(std::string const& text, std::string_view part) {
    return text.find(part) != std::string::npos;
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
            EXPECT_TRUE(contains(peer.what(), "rank 2 failed"));
            EXPECT_TRUE(contains(peer.what(), "out of widgets")) << peer.what();
            ++left;
            throw;
        }
    });
    EXPECT_TRUE(contains(text, "rank 2: out of widgets")) << text;
    EXPECT_EQ(left, 3);
    // The position of the throw is named once.
    EXPECT_EQ(text.find("\n  at "), text.rfind("\n  at ")) << text;
    EXPECT_TRUE(contains(text, "in_process_failure_test.cpp")) << text;
}

TEST(InProcessFailure, ForeignExceptionsBecomeErrorsWithTheRank) {
    EXPECT_TRUE(contains(error_of(2,
                                  [](Bootstrap& bootstrap) {
                                      if (bootstrap.rank() == 1) {
                                          throw std::out_of_range("index 7");
                                      }
                                      bootstrap.barrier();
                                  }),
                         "rank 1: index 7"));
    EXPECT_TRUE(contains(error_of(1, [](Bootstrap&) { throw 7; }), "rank 0: an exception that is no std::exception"));
}

TEST(InProcessFailure, UsageErrorsStayUsageErrors) {
    EXPECT_THROW(run_ranks(3, [](Bootstrap&) { throw UsageError("--hidden 0"); }), UsageError);
    EXPECT_THROW(run_ranks(0, [](Bootstrap&) {}), UsageError);
    EXPECT_THROW(run_ranks(2, -1, [](Bootstrap&) {}), UsageError);
}

TEST(InProcessFailure, ARankThatSwallowsTheNewsIsToldAgainAtItsNextCall) {
    std::atomic<int> told{0};
    EXPECT_TRUE(contains(error_of(2,
                                  [&](Bootstrap& bootstrap) {
                                      if (bootstrap.rank() == 0) {
                                          throw Error("gone");
                                      }
                                      for (int call = 0; call < 3; ++call) {
                                          try {
                                              bootstrap.barrier();
                                              static_cast<void>(bootstrap.all_gather({}));
                                          } catch (PeerFailed const&) {
                                              ++told;
                                          }
                                      }
                                  }),
                         "rank 0: gone"));
    EXPECT_EQ(told, 3);
}

TEST(InProcessFailure, RanksInDifferentCallsAreNamed) {
    std::string const text = error_of(2, [](Bootstrap& bootstrap) {
        if (bootstrap.rank() == 0) {
            static_cast<void>(bootstrap.all_gather({}));
        } else {
            static_cast<void>(bootstrap.exchange({}));
        }
    });
    EXPECT_TRUE(contains(text, "Bootstrap::all_gather") && contains(text, "Bootstrap::exchange")) << text;
}

TEST(InProcessFailure, ALetterOrARootOutsideTheWorldIsRefused) {
    EXPECT_TRUE(contains(error_of(2,
                                  [](Bootstrap& bootstrap) {
                                      static_cast<void>(bootstrap.exchange({{2, {}}}));
                                  }),
                         "2 is not one of 2"));
    EXPECT_TRUE(contains(error_of(2,
                                  [](Bootstrap& bootstrap) {
                                      Blob blob;
                                      bootstrap.broadcast(blob, -1);
                                  }),
                         "root -1"));
}

TEST(InProcessFailure, AllReduceOfDifferentLengthsIsRefused) {
    EXPECT_TRUE(contains(error_of(2,
                                  [](Bootstrap& bootstrap) {
                                      std::vector<std::int64_t> values(static_cast<std::size_t>(bootstrap.rank()) + 1);
                                      bootstrap.all_reduce(values, Fold::sum);
                                  }),
                         "values"));
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
