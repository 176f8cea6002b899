// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Turns a UCX status into an exception. UCX_IN_PROGRESS is no error here only where a caller asks for it itself.
#pragma once

#include "common/base/error.hpp"

#include <ucs/type/status.h>

#include <string_view>

namespace dlmb::ucx {

/// Throws Error "ucx: <call>: <UCX's text>" unless the status is UCS_OK.
void check(ucs_status_t status, std::string_view call, Where where = Where::here());
template <class T>
void check(T, std::string_view) = delete;  // another library's code must not convert

}  // namespace dlmb::ucx
