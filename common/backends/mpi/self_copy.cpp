// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/self_copy.hpp"

#include <cstring>

namespace dlmb::mpi {

SelfCopy::SelfCopy(std::byte* to, std::byte const* from, Bytes bytes, DeviceQueue const* queue)
    : to_(to), from_(from), bytes_(bytes), queue_(queue) {
    if (queue != nullptr && bytes > 0) {
        done_.emplace();
    }
}

void SelfCopy::start() {
    if (bytes_ == 0) {
        return;
    }
    if (queue_ == nullptr) {
        std::memmove(to_, from_, bytes_);
    } else {
        queue_->copy(to_, from_, bytes_);
        done_->record(*queue_);
    }
}

}  // namespace dlmb::mpi
