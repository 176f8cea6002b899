// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Test double of NVML: knows no GPU. Its GPU at PCI bus XX has the reasons 0xXX for low clocks, so that a test chooses
// them by the address; that at bus ee does not say; device numbers other than 00 do not exist.
#pragma once

namespace dlmb::fake_nvml {

inline constexpr int success = 0;
inline constexpr int not_supported = 3;
inline constexpr int not_found = 6;

int reasons_of(void* device, unsigned long long* reasons);

}  // namespace dlmb::fake_nvml
