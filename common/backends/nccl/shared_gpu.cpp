// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/shared_gpu.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <cstdlib>

namespace dlmb::nccl {

EnvironmentSettings shared_gpu_settings(Rank rank, bool one_host) {
    EnvironmentSettings settings{
        {"NCCL_HOSTID", fmt::format("dlmb-{}", rank)},
        {"NCCL_IB_DISABLE", "1"},
        {"NCCL_P2P_DISABLE", "1"},
        {"NCCL_NVLS_ENABLE", "0"},
        {"NCCL_MAX_CTAS", "2"},  // kernels of several processes take turns on the GPU
    };
    if (one_host) {
        settings.emplace_back("NCCL_SOCKET_IFNAME", "lo");
    }
    return settings;
}

void apply(EnvironmentSettings const& settings) {
    int overwrite = 1;
    for (auto const& [name, value] : settings) {
        if (setenv(name.c_str(), value.c_str(), overwrite) != 0) {
            throw Error(fmt::format("setenv {}={} failed", name, value));
        }
        overwrite = 0;
    }
}

}  // namespace dlmb::nccl
