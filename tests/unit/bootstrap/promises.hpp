// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What every bootstrap promises, whatever its ranks are.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace dlmb {

struct Promise {
    char const* name;
    void (*check)(Bootstrap&);  // on all ranks
};

[[nodiscard]] std::span<Promise const> every_promise();

// NOLINTNEXTLINE(readability-identifier-naming): found by that name
inline void PrintTo(Promise const& promise, std::ostream* stream) {
    *stream << promise.name;
}

}  // namespace dlmb
