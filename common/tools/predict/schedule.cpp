// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/schedule.hpp"

#include "common/base/error.hpp"
#include "common/tools/predict/schedule/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace dlmb::predict {
namespace {

constexpr double bytes_of_element = 4;

ScheduleRow const* row_of(Collective collective, Algorithm algorithm) {
    for (auto const rows : {exchange_schedules(), tree_schedules()}) {
        auto const found = std::find_if(rows.begin(), rows.end(), [&](ScheduleRow const& row) {
            return row.collective == collective && row.algorithm == algorithm;
        });
        if (found != rows.end()) {
            return &*found;
        }
    }
    return nullptr;
}

}  // namespace

bool has(Collective collective, Algorithm algorithm) {
    return row_of(collective, algorithm) != nullptr;
}

Algorithm algorithm_that_runs(Collective collective, NamedAlgorithm named, double bytes, int ranks) {
    bool const one_segment = bytes <= named.one_segment_bytes;
    switch (named.algorithm) {
    case Algorithm::ring:
        return collective == Collective::allreduce && bytes < bytes_of_element * ranks ? Algorithm::recursive_doubling
                                                                                       : Algorithm::ring;
    case Algorithm::split_binary:
        return bytes >= 2 * bytes_of_element ? Algorithm::split_binary : Algorithm::three_chains;
    case Algorithm::binomial_pipelined:
        return one_segment ? Algorithm::binomial : named.algorithm;
    case Algorithm::binary_pipelined:
        return one_segment ? Algorithm::binary : named.algorithm;
    default:
        return named.algorithm;
    }
}

double temporary_share(Collective collective, Algorithm algorithm) {
    return row_of(collective, algorithm)->temporary;
}

std::vector<Round> schedule_of(Collective collective, Algorithm algorithm, Extents const& extents) {
    int const ranks = std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
    if (ranks < 1) {
        throw UsageError(fmt::format("a collective needs at least 1 rank, not {}", ranks));
    }
    if (ranks == 1) {
        return {};
    }
    ScheduleRow const* const row = row_of(collective, algorithm);
    if (row == nullptr) {
        throw UsageError(fmt::format("{} has no algorithm {}", name_of(collective), name_of(algorithm)));
    }
    return row->on_torus != nullptr ? row->on_torus(extents) : row->rounds(ranks);
}

}  // namespace dlmb::predict
