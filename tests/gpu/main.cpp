// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The main of tests that need a device: 77, skipped, without one.
#include "common/memory/devices.hpp"

#include <gtest/gtest.h>

#include <iostream>

int main(int count, char** arguments) {
    constexpr int exit_skipped = 77;
    testing::InitGoogleTest(&count, arguments);
    dlmb::Devices const devices = dlmb::find_devices();
    if (devices.list.empty()) {
        std::cout << "skipped: " << devices.why_none << '\n';
        return exit_skipped;
    }
    dlmb::use_device(devices.list.front().index);
    return RUN_ALL_TESTS();
}
