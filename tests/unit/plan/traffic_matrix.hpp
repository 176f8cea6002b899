// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The rows of all ranks (add_sent_bytes) as one matrix.
#pragma once

#include "common/formats/plan/traffic.hpp"

namespace dlmb::test {

/// Bytes from rank i to rank j over all exchanges and sends of a plan set, self included.
class TrafficMatrix {
public:
    /// `phase` empty: all phases.
    explicit TrafficMatrix(std::span<Plan const> all_ranks, std::string_view phase = "") {
        for (Plan const& plan : all_ranks) {
            rows_.emplace_back(all_ranks.size());
            add_sent_bytes(plan, phase, rows_.back());
        }
    }

    [[nodiscard]] Bytes at(Rank from, Rank to) const {
        return rows_.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to));
    }

private:
    std::vector<std::vector<Bytes>> rows_;
};

}  // namespace dlmb::test
