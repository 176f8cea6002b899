// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/ucp.hpp"

#include <gtest/gtest.h>

#include <string>

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
        EXPECT_NE(text.find("ucp_test.cpp"), std::string::npos) << text;
    }
}

TEST(Check, AnotherLibrarysCodeDoesNotConvert) {
    EXPECT_TRUE(checkable<ucs_status_t>);
    EXPECT_FALSE(checkable<int>);
}

TEST(Settings, AreReadFromUcxsOwnListing) {
    ConfigHandle const config = read_config();
    check(ucp_config_modify(config.get(), "RNDV_THRESH", "12345"), "ucp_config_modify");
    std::string const threshold = setting(*config, "RNDV_THRESH");  // newer UCX: "intra:12345,inter:12345"
    EXPECT_NE(threshold.find("12345"), std::string::npos) << threshold;
    EXPECT_EQ(setting(*config, "NO_SUCH_SETTING"), "");
}

TEST(Settings, TheRecordShowsTheValueInEffect) {
    ConfigHandle const config = read_config();
    check(ucp_config_modify(config.get(), "RNDV_SCHEME", "am"), "ucp_config_modify");
    EXPECT_EQ(settings_of_interest(*config).at("ucx_rndv_scheme"), "am");
}

TEST(Settings, AreSetByNamesThatThisUcxHasAndOtherNamesAreNotTakenInSilence) {
    ConfigHandle const config = read_config();
    EXPECT_EQ(set(*config, {{"RNDV_THRESH", "4096"}, {"ZCOPY_THRESH", "inf"}}), "");
    EXPECT_EQ(setting(*config, "ZCOPY_THRESH"), "inf");
    for (char const* const name : {"NO_SUCH_SETTING", "UCX_RNDV_THRESH"}) {
        EXPECT_NE(set(*config, {{name, "4096"}}).find(std::string("has no setting UCX_") + name), std::string::npos);
    }
    EXPECT_NE(set(*config, {{"RNDV_THRESH", "some"}}).find("does not take some for UCX_RNDV_THRESH"),
              std::string::npos);
}

}  // namespace
}  // namespace dlmb::ucx
