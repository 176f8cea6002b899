// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Method linear: all sends of a step are posted, then all receives, and everything is waited for.
//
// Default while a step has few peers. max_outstanding bounds the sends; receives are always all posted before anything
// progresses, so that no message arrives unexpected once its receiver has entered the step.
#include "common/backends/ucx/method.hpp"

namespace dlmb::ucx {
namespace {

void post_everything(LanePlan& lane, std::optional<std::size_t> max_outstanding) {
    rotate_by_rank(lane);
    lane.receive_window = lane.receives.size();
    lane.send_window = max_outstanding.value_or(lane.sends.size());
}

}  // namespace

Method linear() {
    return {{"linear", "ucp_tag_send_nbx to all peers, then ucp_tag_recv_nbx from all, rotated by rank",
             arranged_operations, "max_outstanding=N"},
            post_everything};
}

}  // namespace dlmb::ucx
