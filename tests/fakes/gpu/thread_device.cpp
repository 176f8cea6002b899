// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/thread_device.hpp"

namespace dlmb::fake_gpu {
namespace {

thread_local int current = 0;

}  // namespace

int thread_device() {
    return current;
}

void set_thread_device(int device) {
    current = device;
}

}  // namespace dlmb::fake_gpu
