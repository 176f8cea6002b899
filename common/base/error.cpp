// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"

#include <fmt/core.h>

namespace dlmb {

Error::Error(std::string const& what, Where where)
    : std::runtime_error(fmt::format("{}\n  at {}:{} {}", what, where.file, where.line, where.function)),
      where_(where) {}

}  // namespace dlmb
