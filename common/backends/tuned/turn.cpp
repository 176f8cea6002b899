// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/tuned/turn.hpp"

namespace dlmb::tuned {

bool Turn::pass_to(Backend& next) {
    bool const quiesces = active_ != nullptr && active_ != &next;
    if (quiesces) {
        active_->quiesce();
    }
    active_ = &next;
    return quiesces;
}

void Turn::end() {
    if (active_ != nullptr) {
        active_->quiesce();
        active_ = nullptr;
    }
}

}  // namespace dlmb::tuned
