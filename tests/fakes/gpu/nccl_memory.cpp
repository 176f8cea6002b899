// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/device_memory.hpp"
#include "tests/fakes/gpu/group.hpp"
#include "tests/fakes/gpu/queue.hpp"
#include "tests/fakes/gpu/settings.hpp"
#include "tests/fakes/gpu/wrong_use.hpp"

#include <nccl.h>

#include <algorithm>
#include <cstdint>

using namespace dlmb::fake_gpu;

ncclResult_t ncclMemAlloc(void** address, std::size_t bytes) {
    *address = device_count() == 0 ? nullptr : allocate(bytes, Kind::nccl);
    return *address == nullptr ? ncclUnhandledCudaError : ncclSuccess;
}

ncclResult_t ncclMemFree(void* data) {
    drain_all_queues();
    return data == nullptr || release(data) ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclCommRegister(ncclComm_t const comm, void* data, std::size_t bytes, void** handle) {
    auto const communicator = communicator_of(comm, "ncclCommRegister");
    if (ncclResult_t const state = communicator->ready(); state != ncclSuccess) {
        return state;
    }
    require_device_memory(data, bytes, "ncclCommRegister");
    *handle = data;
    return ncclSuccess;
}

ncclResult_t ncclCommDeregister(ncclComm_t const comm, void* handle) {
    auto const communicator = communicator_of(comm, "ncclCommDeregister");
    return handle == nullptr ? ncclInvalidArgument : ncclSuccess;
}

/// Collective, with equal sizes. The window is there when the state is ncclSuccess.
ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* data, std::size_t bytes, ncclWindow_t* window,
                                    int /*flags*/) {
    auto communicator = communicator_of(comm, "ncclCommWindowRegister");
    if (ncclResult_t const state = communicator->ready(); state != ncclSuccess) {
        return state;
    }
    require_device_memory(data, bytes, "ncclCommWindowRegister");
    *window = nullptr;
    if (find_block(data)->kind != Kind::nccl ||
        reinterpret_cast<std::uintptr_t>(data) % NCCL_WIN_REQUIRED_ALIGNMENT != 0) {
        return ncclInvalidArgument;
    }
    ncclWindow_t const made = communicator->windows.add({static_cast<std::byte*>(data), bytes});
    auto const exchange = std::make_shared<SetUpExchange>(*communicator, Given{bytes, 0});
    communicator->begin([=]() -> std::optional<ncclResult_t> {
        auto const given = exchange->try_to_end();
        if (!given) {
            return std::nullopt;
        }
        if (std::any_of(given->begin(), given->end(), [&](Given const& other) { return other != given->front(); })) {
            wrong_use("ncclCommWindowRegister: the ranks' sizes differ");
        }
        *window = made;
        return ncclSuccess;
    });
    return add_to_group(std::move(communicator));
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
    auto const communicator = communicator_of(comm, "ncclCommWindowDeregister");
    return communicator->windows.remove(window) ? ncclSuccess : ncclInvalidArgument;
}
