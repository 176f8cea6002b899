// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/call_log.hpp"
#include "tests/fakes/gpu/device_memory.hpp"
#include "tests/fakes/gpu/group.hpp"
#include "tests/fakes/gpu/settings.hpp"
#include "tests/fakes/gpu/wrong_use.hpp"

#include <fmt/format.h>
#include <nccl.h>

using namespace dlmb::fake_gpu;

namespace {

/// What NCCL 2.29 allows.
bool are_valid(int peer, int signal_index, int context, unsigned flags, Communicator const& communicator) {
    return peer >= 0 && peer < communicator.ranks() && signal_index == 0 && context == 0 && flags == 0;
}

void require_no_capture(cudaStream_t stream, char const* call) {
    if (stream_of(stream).capture != nullptr) {
        wrong_use(fmt::format("{} in a graph, where only one signal of a pair can be on its way", call));
    }
}

}  // namespace

ncclResult_t ncclPutSignal(void const* data, std::size_t count, ncclDataType_t type, int peer, ncclWindow_t window,
                           std::size_t offset, int signal_index, int context, unsigned flags, ncclComm_t comm,
                           cudaStream_t stream) {
    hang_where_told("ncclPutSignal");
    require_no_capture(stream, "ncclPutSignal");
    auto const communicator = communicator_of(comm, "ncclPutSignal");
    auto const number = communicator->windows.number_of(window);
    std::size_t const bytes = count * element_size(type).value_or(0);
    if (!are_valid(peer, signal_index, context, flags, *communicator) || !number ||
        !communicator->windows.hold(static_cast<std::byte const*>(data), bytes)) {
        return ncclInvalidArgument;
    }
    Operation operation{Call::put, Direction::send, static_cast<std::byte const*>(data), nullptr, count, type, ncclSum,
                        peer};
    operation.window = *number;
    operation.offset = offset;
    ncclResult_t const result = add_to_group(communicator, operation, stream);
    note_call("ncclPutSignal", fmt::format("peer {} count {}", peer, count));
    return result;
}

ncclResult_t ncclSignal(int peer, int signal_index, int context, unsigned flags, ncclComm_t comm, cudaStream_t stream) {
    hang_where_told("ncclSignal");
    require_no_capture(stream, "ncclSignal");
    auto const communicator = communicator_of(comm, "ncclSignal");
    if (!are_valid(peer, signal_index, context, flags, *communicator) || !has_one_sided_calls()) {
        return ncclInvalidArgument;
    }
    if (communicator->windows.none_ever()) {
        return ncclInvalidUsage;  // from NCCL 2.32 on
    }
    Operation const operation{Call::put, Direction::send, nullptr, nullptr, 0, ncclUint8, ncclSum, peer};
    ncclResult_t const result = add_to_group(communicator, operation, stream);
    note_call("ncclSignal", fmt::format("peer {}", peer));
    return result;
}

ncclResult_t ncclWaitSignal(int count, ncclWaitSignalDesc_t* awaited, ncclComm_t comm, cudaStream_t stream) {
    hang_where_told("ncclWaitSignal");
    require_no_capture(stream, "ncclWaitSignal");
    auto const communicator = communicator_of(comm, "ncclWaitSignal");
    if (count <= 0) {
        return ncclInvalidArgument;
    }
    std::string text;
    ++group_depth();
    ncclResult_t result = ncclSuccess;
    for (int i = 0; i < count && result == ncclSuccess; ++i) {
        auto const& [signals, peer, signal_index, context] = awaited[i];
        bool const valid = signals > 0 && are_valid(peer, signal_index, context, 0, *communicator);
        result = valid ? add_to_group(communicator,
                                      Operation{Call::wait_signal, Direction::receive, nullptr, nullptr,
                                                static_cast<std::size_t>(signals), ncclUint8, ncclSum, peer},
                                      stream)
                       : ncclInvalidArgument;
        text += fmt::format("peer {} count {} ", peer, signals);
    }
    bool const ends = --group_depth() == 0;
    result = ends && result == ncclSuccess ? end_group() : result;
    note_call("ncclWaitSignal", text);
    return result;
}
