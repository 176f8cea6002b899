// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucc/check.hpp"

#include <fmt/core.h>

namespace dlmb::ucc {

void check(ucc_status_t status, std::string_view call, Where where) {
    if (status != UCC_OK) {
        throw Error(fmt::format("ucc: {}: {}", call, ucc_status_string(status)), where);
    }
}

}  // namespace dlmb::ucc
