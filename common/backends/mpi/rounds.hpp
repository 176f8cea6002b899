// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How many rounds a staged exchange takes: all members of its group make as many native calls.
#pragma once

#include "common/backends/mpi/communicators.hpp"

#include <cstdint>
#include <vector>

namespace dlmb::mpi {

/// By step; 1 for those that are no exchange. Collective over every group that has exchanges; `communicators` are
/// prepared for `plan`.
[[nodiscard]] std::vector<std::uint64_t> agree_on_rounds(Plan const& plan, Bytes chunk_bytes,
                                                         Communicators const& communicators);

}  // namespace dlmb::mpi
