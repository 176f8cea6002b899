// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One row of the traffic matrix. Large worlds are summarised row by row: the whole matrix of 16,384 ranks is 2 GiB.
#pragma once

#include "common/plan/plan.hpp"

#include <span>
#include <string_view>

namespace dlmb {

/// Adds what the plan's exchanges and sends of `phase` (empty: all) send to each world rank to row[that rank].
void add_sent_bytes(Plan const& plan, std::string_view phase, std::span<Bytes> row);

}  // namespace dlmb
