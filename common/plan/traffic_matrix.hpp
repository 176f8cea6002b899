// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes from rank i to rank j over all exchanges and sends of a plan set (self included), and its text form.
#pragma once

#include "common/plan/plan.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb {

struct TrafficMatrix {
    int ranks = 0;
    std::vector<Bytes> bytes;  // row-major: bytes[from * ranks + to]
    [[nodiscard]] Bytes at(Rank from, Rank to) const {
        return bytes[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(to)];
    }
};

/// `phase` empty: all phases.
[[nodiscard]] TrafficMatrix traffic_matrix(std::span<Plan const> all_ranks, std::string_view phase = "");

/// A table for `--plan text`: every rank's steps (operation, label, payload and wire bytes, messages), then one matrix
/// per phase. Above 32 ranks rows are summarised (total, max, min, imbalance) instead of printed cell by cell.
[[nodiscard]] std::string to_text(std::span<Plan const> all_ranks);

}  // namespace dlmb
