// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/busy.hpp"

namespace dlmb::mpi {

void Busy::wait() {
    while (!test()) {
    }
}

void DeviceBusy::wait() {
    while (!test()) {
        idle_();
    }
}

void DeviceBusy::start() {
    compute_.start(*queue_);
    done_.record(*queue_);
}

}  // namespace dlmb::mpi
