// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a C library prints to a FILE, as text: UCX describes configuration and transports only that way.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

namespace dlmb::ucx {

[[nodiscard]] std::string printed(std::function<void(std::FILE*)> const& print);

}  // namespace dlmb::ucx
