// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/check.hpp"

#include <fmt/core.h>

namespace dlmb::ucx {

void check(ucs_status_t status, std::string_view call, Where where) {
    if (status != UCS_OK) {
        throw Error(fmt::format("ucx: {}: {}", call, ucs_status_string(status)), where);
    }
}

}  // namespace dlmb::ucx
