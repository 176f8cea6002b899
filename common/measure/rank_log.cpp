// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/rank_log.hpp"

#include "common/measure/agree.hpp"
#include "common/measure/statistics.hpp"

#include <algorithm>
#include <array>

namespace dlmb::measure {
namespace {

double quartile_range(std::vector<Nanoseconds> values) {
    std::sort(values.begin(), values.end());
    return static_cast<double>(nearest_rank(values, 75) - nearest_rank(values, 25));
}

}  // namespace

void RankLog::keep(Chunk const& chunk) {
    for (std::size_t i = 0; i < chunk.own.size(); ++i) {
        RankMarks const& own = chunk.own[i];
        SampleTimes const& all = chunk.samples[i];
        enter_.push_back(own.enter - all.first_enter);
        posted_.push_back(own.posted - own.enter);
        done_.push_back(own.done - own.enter);
        skew_.push_back(all.skew);
        last_arrival_.push_back(all.last_arrival);
        imbalance_time_.push_back(all.imbalance_time);
    }
}

void RankLog::summarize(Bootstrap& bootstrap, CellResult& result) const {
    if (done_.empty()) {
        return;
    }
    auto const iterations = static_cast<double>(result.iterations_per_sample);
    std::array<double, 4> const mine{median(enter_), median(posted_), median(done_) / iterations,
                                     quartile_range(done_) / iterations};
    std::vector<Blob> const all = bootstrap.all_gather(std::as_bytes(std::span(mine)));
    if (bootstrap.rank() != deciding_rank) {
        return;
    }
    for (Blob const& blob : all) {
        std::array<double, 4> rank{};
        std::memcpy(rank.data(), blob.data(), sizeof rank);
        result.ranks.enter_ns.push_back(rank[0]);
        result.ranks.posted_ns.push_back(rank[1]);
        result.rank_median_ns.push_back(rank[2]);
        result.ranks.spread_ns.push_back(rank[3]);
    }
    TimeSummary const skew = measure::summarize(skew_);
    result.arrival = {skew.median, skew.p99, median(last_arrival_), median(imbalance_time_)};
}

}  // namespace dlmb::measure
