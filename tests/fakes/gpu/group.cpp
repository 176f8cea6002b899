// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/group.hpp"

#include "tests/fakes/gpu/wrong_use.hpp"

#include <utility>

namespace dlmb::fake_gpu {
namespace {

struct Group {
    std::vector<Launch> launches;
    std::vector<std::shared_ptr<Communicator>> set_up;
};

thread_local Group group;
thread_local int depth = 0;

/// Ends the process where the group has the communicator on another stream, which this project never does.
Launch& launch_of(std::shared_ptr<Communicator> const& communicator, cudaStream_t stream) {
    for (Launch& launch : group.launches) {
        if (launch.communicator == communicator) {
            if (launch.stream != stream) {
                wrong_use("one communicator on two streams in a group");
            }
            return launch;
        }
    }
    return group.launches.emplace_back(Launch{communicator, stream, {}});
}

/// Blocking ones are waited for; ncclInProgress stands for all others.
ncclResult_t settle(std::vector<std::shared_ptr<Communicator>> const& communicators) {
    ncclResult_t result = ncclSuccess;
    for (auto const& communicator : communicators) {
        ncclResult_t const state = communicator->blocking() ? communicator->complete() : ncclInProgress;
        result = result == ncclSuccess || result == ncclInProgress ? state : result;
    }
    return result;
}

}  // namespace

int& group_depth() {
    return depth;
}

void require_no_open_group(char const* call) {
    if (depth > 0) {
        wrong_use(std::string(call) + " inside a group: ncclGroupEnd is missing");
    }
}

ncclResult_t add_to_group(std::shared_ptr<Communicator> const& communicator, Operation const& operation,
                          cudaStream_t stream) {
    if (ncclResult_t const state = communicator->ready(); state != ncclSuccess) {
        return state;
    }
    launch_of(communicator, stream).operations.push_back(operation);
    return group_depth() > 0 ? ncclSuccess : end_group();
}

ncclResult_t add_to_group(std::shared_ptr<Communicator> communicator) {
    group.set_up.push_back(std::move(communicator));
    return group_depth() > 0 ? ncclSuccess : end_group();
}

ncclResult_t end_group() {
    Group const ended = std::exchange(group, {});
    std::vector<std::shared_ptr<Communicator>> communicators = ended.set_up;
    for (Launch const& launch : ended.launches) {
        begin(launch);
        communicators.push_back(launch.communicator);
    }
    return settle(communicators);
}

}  // namespace dlmb::fake_gpu
