// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What this process gives to UCX to be sent, by receiver, and what it gets, by sender. A program that links
// intercepted_ucx.cpp has wrappers before the library's functions; they count and forward.
#pragma once

#include <cstdint>
#include <map>

namespace dlmb::intercepted {

/// Of the worker that this process made last. UCX names a worker in its address by such an id.
[[nodiscard]] std::uint64_t own_worker_id();

/// Bytes given to ucp_tag_send_nbx and ucp_put_nbx since the last reset(), by the id of the worker that receives them.
[[nodiscard]] std::map<std::uint64_t, std::uint64_t> bytes_sent();
/// Bytes asked of ucp_get_nbx, by the id of the worker whose memory they are in.
[[nodiscard]] std::map<std::uint64_t, std::uint64_t> bytes_got();
void reset();

}  // namespace dlmb::intercepted
