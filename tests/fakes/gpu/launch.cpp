// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/group.hpp"
#include "tests/fakes/gpu/tuner.hpp"
#include "tests/fakes/gpu/wrong_use.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::fake_gpu {
namespace {

/// Alone on a stream a message to oneself would wait for ever.
void require_both_ends(Transfers const& transfers, int rank) {
    auto const own = [rank](Message const& message) { return message.peer == rank; };
    auto const sends = std::count_if(transfers.sends.begin(), transfers.sends.end(), own);
    auto const receives = std::count_if(transfers.receives.begin(), transfers.receives.end(), own);
    if (sends != receives) {
        wrong_use(fmt::format("rank {} sends itself {} and receives {} messages in one group", rank, sends, receives));
    }
}

/// Operations of one communicator run in the order of their calls, also in different streams.
void wait_for_last(Communicator const& communicator, CUstream_st& stream) {
    bool const elsewhere = communicator.last_stream != nullptr && communicator.last_stream != &stream;
    bool const same_world = communicator.last.captured
                                ? stream.capture != nullptr && communicator.last.captured_in.lock() == stream.capture
                                : stream.capture == nullptr;
    if (elsewhere && same_world && wait(stream, communicator.last) != cudaSuccess) {
        wrong_use("cannot order two operations of one communicator");
    }
}

bool is_one_sided(Operation const& operation) {
    return operation.call == Call::put || operation.call == Call::wait_signal;
}

/// Nobody says in which order NCCL does different ones.
void require_one_sort(Launch const& launch) {
    auto const sort = [](Operation const& operation) { return is_one_sided(operation) ? operation.call : Call::none; };
    if (std::any_of(launch.operations.begin(), launch.operations.end(),
                    [&](Operation const& operation) { return sort(operation) != sort(launch.operations.front()); })) {
        wrong_use("a group has puts and waits, or one of these and other operations");
    }
}

/// The first one-sided call of a communicator waits until all ranks make one.
void begin_one_sided(Communicator& communicator) {
    communicator.inbox = std::make_shared<Inbox>(communicator);
    auto const exchange = std::make_shared<SetUpExchange>(communicator, Given{});
    communicator.begin([exchange]() -> std::optional<ncclResult_t> {
        return exchange->try_to_end() ? std::optional(ncclSuccess) : std::nullopt;
    });
}

void put_into_streams(Launch const& launch, std::shared_ptr<Transfers const> const& transfers) {
    auto const& communicator = launch.communicator;
    CUstream_st& stream = stream_of(launch.stream);
    wait_for_last(*communicator, stream);
    // What a graph holds may run often or never: ncclCommDestroy does not wait for it.
    bool const counts = stream.capture == nullptr;
    communicator->unfinished += counts ? 1 : 0;
    enqueue(stream, [communicator, transfers, counts] {
        run(*communicator, *transfers);
        communicator->unfinished -= counts ? 1 : 0;
    });
    record(communicator->last, stream);
    communicator->last_stream = &stream;
}

}  // namespace

void begin(Launch const& launch) {
    Communicator& communicator = *launch.communicator;
    require_one_sort(launch);
    if (is_one_sided(launch.operations.front()) && communicator.inbox == nullptr) {
        begin_one_sided(communicator);
    }
    auto const transfers = std::make_shared<Transfers>();
    for (Operation const& operation : launch.operations) {
        add(operation, communicator.rank, communicator.ranks(), *transfers);
    }
    require_both_ends(*transfers, communicator.rank);
    communicator.begin([launch, transfers]() -> std::optional<ncclResult_t> {
        for (Operation const& operation : launch.operations) {
            launch.communicator->tuner->choose(operation);
        }
        put_into_streams(launch, transfers);
        return ncclSuccess;
    });
}

}  // namespace dlmb::fake_gpu
