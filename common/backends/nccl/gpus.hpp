// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which GPU each rank uses, and what makes NCCL run where two ranks share one.
#pragma once

#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "common/bootstrap/bootstrap.hpp"
#include "common/memory/devices.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::nccl {

struct Gpus {
    Device mine;
    bool shared = false;          // two ranks use one of them
    bool all_reduce_fp8 = false;  // all are of compute capability 9.0 or later
};

/// Collective. Unsupported, on all ranks: a rank has no GPU, or two ranks use one and `may_share` is false.
[[nodiscard]] Expected<Gpus, Unsupported> survey_gpus(Bootstrap& bootstrap, bool may_share);

/// The first rank that uses what a lower rank uses, behind that one. `gpu_of_rank`: a name unique in the launch.
[[nodiscard]] std::optional<std::pair<Rank, Rank>> first_to_share(std::vector<std::string> const& gpu_of_rank);

/// Environment variables of NCCL, as name and value.
using EnvironmentSettings = std::vector<std::pair<std::string, std::string>>;

/// The first is what makes it work and always set; the others keep
/// NCCL from taking ways that need a GPU of one's own, and what the user has set wins.
[[nodiscard]] EnvironmentSettings shared_gpu_settings(Rank rank, bool one_host);

/// Before the first call of NCCL in this process: it reads them once. Throws Error.
void apply(EnvironmentSettings const& settings);

}  // namespace dlmb::nccl
