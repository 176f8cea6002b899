// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/traffic_matrix.hpp"

#include "common/plan/sent_bytes.hpp"

namespace dlmb {

void add_sent_bytes(Plan const& plan, std::string_view phase, std::span<Bytes> row) {
    auto const add = [&](GroupId group, Block const& block) {
        Rank const to = plan.groups.at(group).members.at(static_cast<std::size_t>(block.peer));
        row[static_cast<std::size_t>(to)] += block.bytes;
    };
    for (Step const& step : plan.steps) {
        if (!phase.empty() && phase_of(step.label) != phase) {
            continue;
        }
        if (auto const* exchange = std::get_if<Exchange>(&step.operation)) {
            for (Block const& block : exchange->send) {
                add(exchange->group, block);
            }
        } else if (auto const* send = std::get_if<Send>(&step.operation)) {
            add(send->group, send->to);
        }
    }
}

TrafficMatrix traffic_matrix(std::span<Plan const> all_ranks, std::string_view phase) {
    std::size_t const ranks = all_ranks.size();
    TrafficMatrix matrix{static_cast<int>(ranks), std::vector<Bytes>(ranks * ranks, 0)};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        add_sent_bytes(all_ranks[rank], phase, std::span(matrix.bytes).subspan(rank * ranks, ranks));
    }
    return matrix;
}

}  // namespace dlmb
