// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the record says about this backend: versions, transports in use, policies.
#pragma once

#include "common/backends/ucx/transport.hpp"

namespace dlmb::ucx {

[[nodiscard]] Provenance provenance_of(Transport const& transport);

/// "cma sysv" out of what ucp_ep_print_info prints: transport names, sorted, each once.
[[nodiscard]] std::string transports_in(std::string const& endpoint_info);

}  // namespace dlmb::ucx
