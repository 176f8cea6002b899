// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The backend "ucx": plans over UCP tag matching, one worker per rank.
#pragma once

#include "common/backend/registry.hpp"

namespace dlmb::ucx {

/// Collective. Unsupported when there are more ranks than a message tag can name.
[[nodiscard]] MadeBackend make_backend(BackendContext const& context);

}  // namespace dlmb::ucx
