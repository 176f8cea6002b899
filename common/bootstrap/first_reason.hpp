// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One verdict for all ranks. A rank that refuses alone would leave the others waiting for it.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <string>

namespace dlmb {

/// Collective. The text of the lowest rank whose text is not empty, on every rank; empty when all are.
[[nodiscard]] std::string first_reason(Bootstrap& bootstrap, std::string const& mine);

}  // namespace dlmb
