// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How much a plan moves: payload and wire bytes, the busiest rank, imbalance, and the bandwidth formulas over them:
// O(1) numbers per rank, so that a launch of any size can gather them. And the rows of the matrix of bytes from rank to
// rank.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <span>
#include <string_view>

namespace dlmb {

/// One rank's share of one plan (or of one phase of it). Self blocks are in `payload`, never in `out` and `in`.
struct RankTraffic {
    Bytes payload = 0;  // what is passed to the API to be sent, self included (docs of accounting: traffic, section 1)
    // Leaves the rank, in whole messages: those of write_goal(), but a broadcast leaves its root once, and of a
    // reduction each rank sends one.
    Bytes out = 0;
    Bytes in = 0;          // enters the rank
    Bytes send_total = 0;  // row of the traffic matrix, self included
    Bytes recv_total = 0;  // column, self included
    Bytes messages = 0;    // blocks sent to other ranks, of windows their messages; and signals, which have no payload
    Bytes self = 0;        // part of `payload` whose destination is this rank
    // The bandwidth-optimal factor of a collective, 2 (P - 1) / P of an allreduce, less `out` and `in`: a fraction of a
    // byte to a few elements where the parts of the ranks are not equal.
    double optimal_out = 0;
    double optimal_in = 0;

    bool operator==(RankTraffic const&) const = default;
};

/// `phase` empty: the whole plan.
[[nodiscard]] RankTraffic traffic_of(Plan const& plan, std::string_view phase = "");
[[nodiscard]] RankTraffic traffic_of_step(Plan const& plan, StepId step);

struct TrafficSummary {
    Bytes payload_bytes = 0;        // sum over ranks
    Bytes wire_bytes = 0;           // sum over ranks of `out` or `in`: the larger, which is `in` for a broadcast
    Bytes self_bytes = 0;           // payload that stays on its rank
    Bytes largest_total_bytes = 0;  // max over ranks of max(send_total, recv_total)
    // From the optimal bytes out and in:
    double busiest_rank_bytes = 0;   // max over ranks of max(out, in): the bottleneck
    double balanced_rank_bytes = 0;  // mean over ranks of max(out, in)
    double imbalance_send = 1;       // max / mean of out; 1 when nothing is sent
    double imbalance_recv = 1;       // max / mean of in
    bool operator==(TrafficSummary const&) const = default;
};

[[nodiscard]] TrafficSummary summarize(std::span<RankTraffic const> ranks);

/// 10^9 bytes per second. busbw = busiest_rank_bytes / t, algbw = largest_total_bytes / t, aggregate = wire_bytes / t.
struct Bandwidth {
    double algbw_GBps = 0;      // NOLINT(readability-identifier-naming): the record's field name
    double busbw_GBps = 0;      // NOLINT(readability-identifier-naming)
    double aggregate_GBps = 0;  // NOLINT(readability-identifier-naming)
};
[[nodiscard]] Bandwidth bandwidth(TrafficSummary const& traffic, double time_ns);

/// One row of the matrix of bytes from rank to rank, self included; the whole one of 16,384 ranks is 2 GiB. Adds what
/// the plan's exchanges, sends and puts of `phase` (empty: all) send to each world rank to row[that rank].
void add_sent_bytes(Plan const& plan, std::string_view phase, std::span<Bytes> row);

/// Parts of a collective are not equal. Equal ones may be named, too: a call with a list of them.
[[nodiscard]] bool has_uneven_shares(Operation const& operation);

}  // namespace dlmb
