// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/communicator.hpp"
#include "tests/fakes/gpu/wrong_use.hpp"

#include <fmt/core.h>

#include <map>

/// What the program holds; never looked into.
struct ncclComm {};

namespace dlmb::fake_gpu {
namespace {

struct Handles {
    std::mutex mutex;
    std::map<ncclComm_t, std::shared_ptr<Communicator>> living;
};

Handles& handles() {
    static auto* const only = new Handles;
    return *only;
}

}  // namespace

/// Handles are never reused, so that a stale one is always noticed.
ncclComm_t add_communicator(std::shared_ptr<Communicator> communicator) {
    auto* const handle = new ncclComm;
    std::lock_guard const lock(handles().mutex);
    handles().living[handle] = std::move(communicator);
    return handle;
}

std::shared_ptr<Communicator> communicator_of(ncclComm_t handle, char const* call) {
    std::lock_guard const lock(handles().mutex);
    auto const found = handles().living.find(handle);
    if (found == handles().living.end()) {
        wrong_use(fmt::format("{}: a communicator that was destroyed, aborted or never made", call));
    }
    return found->second;
}

void remove_communicator(ncclComm_t handle) {
    std::lock_guard const lock(handles().mutex);
    handles().living.erase(handle);
}

}  // namespace dlmb::fake_gpu
