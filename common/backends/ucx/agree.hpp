// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One verdict for all ranks. A rank that alone refuses a plan would leave the others waiting for it.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <optional>
#include <string>

namespace dlmb::ucx {

/// Collective. The text of the lowest rank that has one, on every rank; nothing when no rank has one.
[[nodiscard]] std::optional<std::string> agree(Bootstrap& bootstrap, std::optional<std::string> const& mine);

}  // namespace dlmb::ucx
