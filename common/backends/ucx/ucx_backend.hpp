// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The backend "ucx": plans over UCP tag matching, one worker per rank.
#pragma once

#include "common/backend_kit/registry.hpp"

namespace dlmb::ucx {

/// Collective. The device, where there is one, is in use already (use_device): UCX looks at it once, at this moment.
/// Unsupported when there are more ranks than a message tag can name.
[[nodiscard]] MadeBackend make_backend(BackendContext const& context);

}  // namespace dlmb::ucx
