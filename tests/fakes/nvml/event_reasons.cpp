// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/nvml/nvml.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the library's name
extern "C" int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
    return dlmb::fake_nvml::reasons_of(device, reasons);
}
