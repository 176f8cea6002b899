// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/check.hpp"
#include "common/backends/ucx/settings.hpp"

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

/// The threshold that is in effect with these settings; empty: not changed.
std::string threshold_for(char const* transports, char const* threshold) {
    ConfigHandle const config = read_config();
    check(ucp_config_modify(config.get(), "TLS", transports), "ucp_config_modify");
    check(ucp_config_modify(config.get(), "RNDV_THRESH", threshold), "ucp_config_modify");
    std::string const before = setting(*config, "RNDV_THRESH");
    bool const changed = prefer_for_tcp(*config, {}).contains("RNDV_THRESH");
    std::string const after = setting(*config, "RNDV_THRESH");
    EXPECT_EQ(changed, after != before);
    return after == before ? "" : after;
}

TEST(Settings, OfATransportHaveItsNameFromUcx117On) {
    EXPECT_EQ(name_of_tcp_setting(1, 13, "RX_SEG_SIZE"), "RX_SEG_SIZE");
    EXPECT_EQ(name_of_tcp_setting(1, 16, "SNDBUF"), "SNDBUF");
    EXPECT_EQ(name_of_tcp_setting(1, 17, "SNDBUF"), "TCP_SNDBUF");
    EXPECT_EQ(name_of_tcp_setting(2, 0, "RX_SEG_SIZE"), "TCP_RX_SEG_SIZE");
}

TEST(Settings, TcpAloneGetsALaterRendezvousUnlessTheUserHasChosenOne) {
    for (char const* const alone : {"self,tcp", "tcp"}) {
        EXPECT_NE(threshold_for(alone, "auto"), "") << alone;
        EXPECT_EQ(threshold_for(alone, "12345"), "") << alone;
    }
    for (char const* const other : {"all", "self", "self,sysv,tcp"}) {
        EXPECT_EQ(threshold_for(other, "auto"), "") << other;
    }
}

}  // namespace
}  // namespace dlmb::ucx
