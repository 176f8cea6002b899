// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads UCX's description of an endpoint.
#pragma once

#include <string>

namespace dlmb::ucx {

/// "cma sysv" out of what ucp_ep_print_info prints: names of transports, sorted, each once.
[[nodiscard]] std::string transports_in(std::string const& endpoint_info);

}  // namespace dlmb::ucx
