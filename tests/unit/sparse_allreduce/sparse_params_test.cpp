// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/sparse_allreduce/sparse_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::sparse_allreduce {
namespace {

std::string refused(Parameters const& parameters) {
    return refusal(type(), "", parameters, {4, 4});
}

TEST(SparseParams, KIsTheDensityTimesTheElementsUnlessItIsGiven) {
    // Ok-Topk, section 5: 1 % of BERT's 133,547,324 gradients, rounded down.
    EXPECT_EQ(params_of(4, {{"elements", "133547324"}, {"density", "0.01"}}).k, 1'335'473U);
    EXPECT_EQ(params_of(4, {{"elements", "50"}, {"density", "0.001"}}).k, 1U);
    EXPECT_EQ(params_of(4, {{"elements", "1000"}, {"density", "0.01"}, {"k", "7"}}).k, 7U);
}

TEST(SparseParams, ASwitchTurnsBalancingOff) {
    EXPECT_TRUE(params_of(4, {}).balanced);
    EXPECT_FALSE(params_of(4, {{"no-balance", "on"}}).balanced);
}

TEST(SparseParams, RefusalsNameWhatIsWrong) {
    for (char const* const share : {"", "0.8", "0.8:0.1:2", "0:0.1", "0.8:0", "1.1:0.1", "a:b", "0.5:1"}) {
        EXPECT_NE(refused({{"skew-share", share}}).find("expected PICKS:INDICES"), std::string::npos) << share;
    }
    EXPECT_EQ(refused({{"elements", "1000"}, {"k", "40"}, {"skew-share", "0.8:0.1"}}),
              "--k 40: too many for --elements 1000 and --skew-share 0.8:0.1: at most a quarter of the gradients "
              "anywhere are picked, here 31");
    EXPECT_NE(refused({{"elements", "10"}, {"k", "11"}}).find("--k '11'"), std::string::npos);
    EXPECT_NE(refused({{"elements", "4294967297"}}).find("--elements '4294967297'"), std::string::npos);
    EXPECT_NE(refused({{"density", "0"}}).find("--density '0'"), std::string::npos);
    EXPECT_NE(refused({{"balance-above", "0.5"}}).find("--balance-above '0.5'"), std::string::npos);
    EXPECT_NE(refused({{"bucket", "0"}}).find("--bucket '0'"), std::string::npos);
    EXPECT_NE(refused({{"elements", "4294967296"}, {"density", "0.1"}, {"skew-share", "1:1"}})
                  .find("works out the picks of all at set-up"),
              std::string::npos);
}

}  // namespace
}  // namespace dlmb::sparse_allreduce
