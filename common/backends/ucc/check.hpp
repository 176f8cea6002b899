// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Turns a UCC status into an exception.
#pragma once

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <string_view>
#include <ucc/api/ucc.h>

namespace dlmb::ucc {

/// Throws Error "ucc: <call>: <UCC's text>" unless the status is UCC_OK.
inline void check(ucc_status_t status, std::string_view call, Where where = Where::here()) {
    if (status != UCC_OK) {
        throw Error(fmt::format("ucc: {}: {}", call, ucc_status_string(status)), where);
    }
}
template <class T>
void check(T, std::string_view) = delete;  // another library's code must not convert

}  // namespace dlmb::ucc
