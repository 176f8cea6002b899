// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The pattern kv_transfer for tests.
#pragma once

#include "patterns/kv_transfer/kv_transfer.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"

namespace dlmb::kv_transfer {

inline constexpr TypeUnderTest kv{type};

/// Bytes of all messages that a rank sends and receives in steps whose labels begin so.
struct RankBytes {
    Bytes sent = 0;
    Bytes received = 0;
    Bytes messages_sent = 0;
};
inline RankBytes bytes_of(Plan const& plan, std::string_view label = "") {
    RankBytes sum;
    for (Step const& step : plan.steps) {
        if (!std::string_view(step.label).starts_with(label)) {
            continue;
        }
        if (auto const* send = std::get_if<Send>(&step.operation)) {
            sum.sent += send->to.bytes * send->window.messages;
            sum.messages_sent += send->window.messages;
        } else if (auto const* recv = std::get_if<Recv>(&step.operation)) {
            sum.received += recv->from.bytes * recv->window.messages;
        } else if (has_signals(step.operation)) {
            for (Block const& block : sent_blocks(step.operation)) {
                sum.sent += block.bytes;
                ++sum.messages_sent;
            }
            for (Block const& block : received_blocks(step.operation)) {
                sum.received += block.bytes;
            }
        }
    }
    return sum;
}

}  // namespace dlmb::kv_transfer
