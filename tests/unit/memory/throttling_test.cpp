// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// On a test double of NVML (tests/fakes/nvml), whose GPUs have the reasons that their bus number spells.
#include "common/memory/throttling.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

std::optional<bool> at(std::string const& pci_bus_id, char const* library = FAKE_NVML) {
    return Throttling(pci_bus_id, library).now();
}

TEST(Throttling, PowerAndTemperatureHoldClocksDown) {
    for (char const* bus : {"04", "08", "20", "40", "80", "05", "ff"}) {
        EXPECT_EQ(at("0000:" + std::string(bus) + ":00.0"), true) << bus;
    }
}

TEST(Throttling, IdlenessAndSettingsDoNot) {
    for (char const* bus : {"00", "01", "02", "10", "13"}) {
        EXPECT_EQ(at("0000:" + std::string(bus) + ":00.0"), false) << bus;
    }
}

TEST(Throttling, OlderDriversNameTheSameFunctionOtherwise) {
    EXPECT_EQ(at("0000:04:00.0", FAKE_OLD_NVML), true);
    EXPECT_EQ(at("0000:01:00.0", FAKE_OLD_NVML), false);
}

TEST(Throttling, IsNotKnownWhereNobodySays) {
    EXPECT_EQ(at("0000:04:00.0", "libthere-is-no-such.so.1"), std::nullopt);
    EXPECT_EQ(at("0000:04:00.0", "libc.so.6"), std::nullopt) << "a library without NVML's functions";
    EXPECT_EQ(at("0000:04:01.0"), std::nullopt) << "a GPU that NVML does not know";
    EXPECT_EQ(at("0000:ee:00.0"), std::nullopt) << "a GPU whose reasons NVML does not know";
}

}  // namespace
}  // namespace dlmb
