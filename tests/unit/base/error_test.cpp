// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace dlmb {
namespace {

/// Stands for a check() function: it passes its caller's position on.
[[noreturn]] void fail_for_caller(Where where = Where::here()) {
    throw Error("MPI_Alltoallv failed", where);
}

TEST(Error, SaysWhatAndWhere) {
    int const line = __LINE__ + 2;
    try {
        throw Error("rank 3: out of memory");
    } catch (Error const& error) {
        EXPECT_EQ(error.where().line, line);
        EXPECT_EQ(error.what(),
                  "rank 3: out of memory\n  at tests/unit/base/error_test.cpp:" + std::to_string(line) + " TestBody");
    }
}

TEST(OneLine, ShowsWhatNoTerminalShould) {
    EXPECT_EQ(one_line("a\tb\n\x1b[31m\x7f"), "a\\x09b\\x0a\\x1b[31m\\x7f");
    EXPECT_EQ(one_line("gr\xc3\xb6\xc3\x9f"
                       "e \xe2\x82\xac \xf0\x9f\x98\x80"),
              "gr\xc3\xb6\xc3\x9f"
              "e \xe2\x82\xac \xf0\x9f\x98\x80");
    // Cut off, overlong, C1 control, half of UTF-16, beyond Unicode, byte that is in no UTF-8.
    EXPECT_EQ(one_line("\xc3"), "\\xc3");
    EXPECT_EQ(one_line("\xc0\xaf"), "\\xc0\\xaf");
    EXPECT_EQ(one_line("\xc2\x9b"), "\\xc2\\x9b");
    EXPECT_EQ(one_line("\xed\xa0\x80"), "\\xed\\xa0\\x80");
    EXPECT_EQ(one_line("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
    EXPECT_EQ(one_line("\xff"), "\\xff");
}

TEST(OneLine, KeepsBeginAndEndOfALongMessage) {
    std::string const text = one_line("--preset '" + std::string(200'000, 'x') + "': give a known one");
    EXPECT_LT(text.size(), 1000U);
    EXPECT_EQ(text.rfind("--preset 'xxx", 0), 0U);
    EXPECT_TRUE(text.ends_with("': give a known one"));
}

TEST(Error, NamesTheCallerOfACheckNotTheCheck) {
    int const line = __LINE__ + 2;
    try {
        fail_for_caller();
    } catch (Error const& error) {
        EXPECT_EQ(error.where().line, line);
        EXPECT_STREQ(error.where().function, "TestBody");
    }
}

TEST(Expected, HoldsAValueOrAReason) {
    Expected<std::unique_ptr<int>, Unsupported> good = std::make_unique<int>(7);
    ASSERT_TRUE(good);
    EXPECT_EQ(*std::move(good).value(), 7);
    Expected<std::unique_ptr<int>, Unsupported> const bad = Unsupported{"no CUDA device"};
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().reason, "no CUDA device");
}

}  // namespace
}  // namespace dlmb
