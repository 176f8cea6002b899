// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What dlmb_info finds out, as one JSON object, and that object as text for people.
#pragma once

#include "common/backend_kit/registry.hpp"
#include "common/record/environment.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace dlmb::app {

using InfoJson = nlohmann::ordered_json;

/// Collective. This rank works on the device it was given from now on.
[[nodiscard]] InfoJson collect_info(Bootstrap& bootstrap);

/// Devices, the network adapters near each, who reaches whose memory, and which one this rank uses.
[[nodiscard]] InfoJson describe_gpus(Devices const& devices, record::DeviceUse const& use);

/// Collective. One backend: kinds of memory, methods, and facts, those on device memory among them.
[[nodiscard]] InfoJson describe_backend(BackendEntry const& entry, BackendContext const& context);

[[nodiscard]] std::string info_text(InfoJson const& info);

}  // namespace dlmb::app
