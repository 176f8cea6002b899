// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL 2.29 and later.
#include "common/backends/nccl/check.hpp"
#include "common/backends/nccl/iteration.hpp"

namespace dlmb::nccl {
namespace {

constexpr int signal_index = AwaitedCount{}.signal_index;
constexpr int context = AwaitedCount{}.context;
constexpr unsigned flags = 0;

ncclResult_t write(SignalledWrite const& write, ncclComm_t communicator, cudaStream_t stream) {
    ncclResult_t const code =
        write.bytes == 0
            ? ncclSignal(write.peer, signal_index, context, flags, communicator, stream)
            : ncclPutSignal(write.data, write.bytes, ncclUint8, write.peer, static_cast<ncclWindow_t>(write.window),
                            write.offset, signal_index, context, flags, communicator, stream);
    return checked(code, write.bytes == 0 ? "ncclSignal" : "ncclPutSignal");
}

ncclResult_t wait(std::vector<AwaitedCount> const& waits, ncclComm_t communicator, cudaStream_t stream) {
    static_assert(sizeof(AwaitedCount) == sizeof(ncclWaitSignalDesc_t));
    auto* const descriptors =  // NCCL only reads them
        reinterpret_cast<ncclWaitSignalDesc_t*>(const_cast<AwaitedCount*>(waits.data()));
    return checked(ncclWaitSignal(static_cast<int>(waits.size()), descriptors, communicator, stream), "ncclWaitSignal");
}

}  // namespace

bool has_one_sided_calls() {
    return true;
}

ncclResult_t post(OneSidedCall const& call, cudaStream_t stream) {
    if (!call.waits.empty()) {
        return wait(call.waits, call.communicator, stream);
    }
    if (call.writes.size() == 1) {
        return write(call.writes.front(), call.communicator, stream);
    }
    check(ncclGroupStart(), "ncclGroupStart");
    for (SignalledWrite const& each : call.writes) {
        (void)write(each, call.communicator, stream);
    }
    return checked(ncclGroupEnd(), "ncclGroupEnd");
}

}  // namespace dlmb::nccl
