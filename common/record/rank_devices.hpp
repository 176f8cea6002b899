// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The GPUs of all ranks, as far as the record tells of them.
#pragma once

#include "common/record/environment.hpp"

#include <string>
#include <vector>

namespace dlmb::record {

/// One device model for the identity: "NVIDIA H200, compute capability 9.0, 150109880320 B".
[[nodiscard]] std::string device_model(Device const& device);

/// Models with the number of devices that the launch uses on each node, a device that several ranks share counted once:
/// "MODEL, 8 per node", several models joined with "; ". `model_of_rank` is empty where a rank has no device. Empty
/// when no rank has one.
[[nodiscard]] std::string gpus_in_use(std::vector<RankPlace> const& ranks,
                                      std::vector<std::string> const& model_of_rank);

/// Ranks that run far from their device, and devices that are no devices.
[[nodiscard]] std::vector<std::string> device_warnings(Environment const& environment);

}  // namespace dlmb::record
