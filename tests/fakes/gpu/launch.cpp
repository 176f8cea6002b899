// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/launch.hpp"

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

void put_into_streams(Launch const& launch, std::shared_ptr<Transfers const> const& transfers) {
    auto const& communicator = launch.communicator;
    CUstream_st& stream = stream_of(launch.streams.front());
    for (std::size_t i = 1; i < launch.streams.size(); ++i) {
        Mark before;
        record(before, stream_of(launch.streams[i]));
        if (wait(stream, before) != cudaSuccess) {
            wrong_use("a group's streams are in different captures");
        }
    }
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
    for (std::size_t i = 1; i < launch.streams.size(); ++i) {
        if (wait(stream_of(launch.streams[i]), communicator->last) != cudaSuccess) {
            wrong_use("a group's streams are in different captures");
        }
    }
}

}  // namespace

void begin(Launch const& launch) {
    Communicator& communicator = *launch.communicator;
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
