// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/check.hpp"
#include "common/backends/ucx/settings.hpp"
#include "tests/unit/ucx/ucx_environment.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {
namespace {

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

TEST(Settings, OfATransportHaveItsNameFromUcx117On) {
    EXPECT_EQ(name_to_modify("TCP_SNDBUF", 1, 13), "SNDBUF");
    EXPECT_EQ(name_to_modify("TCP_SNDBUF", 1, 16), "SNDBUF");
    EXPECT_EQ(name_to_modify("TCP_SNDBUF", 1, 17), "TCP_SNDBUF");
    EXPECT_EQ(name_to_modify("TCP_SNDBUF", 2, 0), "TCP_SNDBUF");
    EXPECT_EQ(name_to_modify("RNDV_THRESH", 1, 13), "RNDV_THRESH");
}

ContextSettings preferred(bool one_node) {
    ConfigHandle const config = read_config();
    return prefer_for_tcp(*config, one_node);
}

TEST(Settings, OfTcpAloneDependOnWhetherThereIsOneNode) {
    for (char const* const alone : {"self,tcp", "tcp"}) {
        UcxEnvironment const environment(UcxEnvironment::Values{{"UCX_TLS", alone}});
        EXPECT_EQ(preferred(false), (ContextSettings{{"RNDV_THRESH", "786432"}, {"TCP_RX_SEG_SIZE", "100k"}}));
        EXPECT_EQ(preferred(true), (ContextSettings{{"MAX_RNDV_RAILS", "1"},
                                                    {"RNDV_THRESH", "917504"},
                                                    {"TCP_RX_SEG_SIZE", "100k"},
                                                    {"TCP_SNDBUF", "256k"}}));
    }
    for (char const* const other : {"all", "self", "self,sysv,tcp"}) {
        UcxEnvironment const environment(UcxEnvironment::Values{{"UCX_TLS", other}});
        EXPECT_EQ(preferred(true), ContextSettings{}) << other;
    }
}

TEST(Settings, ThatTheUserHasChosenStand) {
    UcxEnvironment const environment(UcxEnvironment::Values{{"UCX_TLS", "self,tcp"},
                                                            {"UCX_MAX_RNDV_RAILS", "2"},
                                                            {"UCX_RNDV_THRESH", "12345"},
                                                            {"UCX_TCP_RX_SEG_SIZE", "64k"},
                                                            {"UCX_TCP_SNDBUF", "auto"}});
    ConfigHandle const config = read_config();
    EXPECT_EQ(prefer_for_tcp(*config, true), ContextSettings{});
    EXPECT_NE(setting(*config, "RNDV_THRESH").find("12345"), std::string::npos);
}

TEST(Settings, PreferredOverTcpAreInEffect) {
    UcxEnvironment const environment(UcxEnvironment::Values{{"UCX_TLS", "self,tcp"}});
    ConfigHandle const config = read_config();
    EXPECT_EQ(setting(*config, "RNDV_THRESH").find("786432"), std::string::npos);
    ASSERT_TRUE(prefer_for_tcp(*config, false).contains("RNDV_THRESH"));
    EXPECT_NE(setting(*config, "RNDV_THRESH"), setting(*read_config(), "RNDV_THRESH"));
}

}  // namespace
}  // namespace dlmb::ucx
