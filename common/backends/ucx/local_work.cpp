// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/local_work.hpp"

#include "common/backend_kit/device_reduce.hpp"
#include "common/backend_kit/host_reduce.hpp"
#include "common/backends/ucx/stream_copy.hpp"

#include <algorithm>
#include <cstring>

namespace dlmb::ucx {
namespace {

constexpr Bytes piece = Bytes{1} << 20;  // whole elements of every type

void copy(std::byte* to, std::byte const* from, Bytes bytes) {
    std::memcpy(to, from, bytes);
}

}  // namespace

bool do_piece(LocalWork const& work, Bytes& done) {
    Bytes const bytes = std::min(piece, work.bytes - done);
    if (work.right == nullptr) {
        (work.past_caches ? stream_copy : copy)(work.to + done, work.left + done, bytes);
    } else {
        host_reduce(work.to + done, work.left + done, work.right + done, bytes, work.element, work.reduction);
    }
    done += bytes;
    return done == work.bytes;
}

void queue_work(DeviceQueue const& queue, LocalWork const& work) {
    if (work.right == nullptr) {
        queue.copy(work.to, work.left, work.bytes);
    } else {
        device_reduce(queue, work.to, work.left, work.right, work.bytes, work.element, work.reduction);
    }
}

}  // namespace dlmb::ucx
