// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/gpus.hpp"

#include "common/backend_kit/blobs.hpp"
#include "common/backends/nccl/check.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <map>

namespace dlmb::nccl {
namespace {

/// Cubins for fp8 reductions exist from 9.0 on.
bool has_fp8_arithmetic(Device const& device) {
    return std::atoi(device.compute_capability.c_str()) >= 9;
}

}  // namespace

std::optional<std::pair<Rank, Rank>> first_to_share(std::vector<std::string> const& gpu_of_rank) {
    std::map<std::string, Rank> users;
    for (std::size_t rank = 0; rank < gpu_of_rank.size(); ++rank) {
        auto const [place, is_first] = users.try_emplace(gpu_of_rank[rank], static_cast<Rank>(rank));
        if (!is_first) {
            return std::pair{place->second, static_cast<Rank>(rank)};
        }
    }
    return std::nullopt;
}

Expected<Gpus, Unsupported> survey_gpus(Bootstrap& bootstrap, bool may_share) {
    Devices const devices = find_devices();
    if (std::string reason = first_refusal(bootstrap, devices.why_none); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    int index = 0;
    check(cudaGetDevice(&index), "cudaGetDevice");
    Gpus gpus;
    gpus.mine = devices.list.at(static_cast<std::size_t>(index));
    std::vector<std::string> everyone;
    std::string const mine = fmt::format("{} of {}", gpus.mine.pci_bus_id, bootstrap.host());
    for (std::vector<char> const& told : gather<char>(bootstrap, mine)) {
        everyone.emplace_back(told.begin(), told.end());
    }
    if (auto const sharing = first_to_share(everyone)) {
        auto const [first, second] = *sharing;
        if (!may_share) {
            return Unsupported{fmt::format("ranks {} and {} use one GPU, {}; start as many ranks per node as it has "
                                           "GPUs, or see whether results are right with --shared-gpu",
                                           first, second, everyone[static_cast<std::size_t>(second)])};
        }
        gpus.shared = true;
    }
    gpus.all_reduce_fp8 = !any_rank(bootstrap, !has_fp8_arithmetic(gpus.mine));
    return gpus;
}

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
