// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Method pairwise: at most max_outstanding receives and as many sends of a step at once; a finished one makes room for
// the next peer in rotated order.
//
// Default with many peers: posting all at once loads every rank's matching and every link. No deadlock: the transfer
// of the smallest distance that is not done anywhere is the first of both its ranks, hence posted on both.
#include "common/backends/ucx/method.hpp"

namespace dlmb::ucx {
namespace {

constexpr std::size_t default_outstanding = 8;
constexpr std::string_view smaller_windows[] = {"1", "2"};

void post_in_windows(LanePlan& lane, std::optional<std::size_t> max_outstanding) {
    rotate_by_rank(lane);
    lane.receive_window = max_outstanding.value_or(default_outstanding);
    lane.send_window = lane.receive_window;
}

}  // namespace

Method pairwise() {
    return {{"pairwise", "ucp_tag_send_nbx and ucp_tag_recv_nbx in a window of peers, rotated by rank",
             arranged_operations, "max_outstanding=N"},
            post_in_windows,
            nullptr,
            smaller_windows};
}

}  // namespace dlmb::ucx
