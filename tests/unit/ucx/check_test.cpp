// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/check.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace dlmb::ucx {
namespace {

template <class Code>
constexpr bool checkable = requires(Code code) {
    check(code, "call");
};

TEST(Check, NamesTheCallUcxsTextAndThePlace) {
    try {
        check(UCS_ERR_MESSAGE_TRUNCATED, "ucp_tag_recv_nbx");
        FAIL() << "nothing was thrown";
    } catch (Error const& error) {
        std::string const text = error.what();
        EXPECT_NE(text.find("ucx: ucp_tag_recv_nbx: " + std::string(ucs_status_string(UCS_ERR_MESSAGE_TRUNCATED))),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find("check_test.cpp"), std::string::npos) << text;
    }
}

TEST(Check, SuccessThrowsNothing) {
    EXPECT_NO_THROW(check(UCS_OK, "ucp_init"));
}

TEST(Check, AnotherLibrarysCodeDoesNotConvert) {
    EXPECT_TRUE(checkable<ucs_status_t>);
    EXPECT_FALSE(checkable<int>);
}

}  // namespace
}  // namespace dlmb::ucx
