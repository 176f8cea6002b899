// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One rank's end of a communicator. What is set up or launched on a non-blocking one happens while its state is asked
// for, some questions later, so that a caller who does not ask goes wrong here as it would with NCCL.
#pragma once

#include "tests/fakes/gpu/segment.hpp"
#include "tests/fakes/gpu/stream.hpp"

#include <nccl.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::fake_gpu {

/// Tries to go on; empty: not yet.
using Attempt = std::function<std::optional<ncclResult_t>()>;

class Inbox;
class Tuner;

struct WindowMemory {
    std::byte* data = nullptr;  // as the program names it
    std::size_t bytes = 0;
};

/// Windows of one rank, in the order of their registration, which is that of all ranks. A number is never used again.
class Windows {
public:
    ncclWindow_t add(WindowMemory memory);
    /// False: it is not one.
    bool remove(ncclWindow_t window);
    [[nodiscard]] std::optional<std::uint64_t> number_of(ncclWindow_t window) const;
    [[nodiscard]] WindowMemory at(std::uint64_t number) const;
    [[nodiscard]] bool none_ever() const;
    /// Whether all bytes lie in one window.
    [[nodiscard]] bool hold(std::byte const* data, std::size_t bytes) const;

private:
    mutable std::mutex mutex_;
    std::vector<WindowMemory> all_;
};

class Communicator {
public:
    Communicator(std::string const& name, int ranks, int rank, bool blocking);

    [[nodiscard]] int ranks() const { return segment.ranks(); }
    [[nodiscard]] bool blocking() const { return blocking_; }
    /// ncclSuccess when the next call is allowed; otherwise what that call has to answer.
    [[nodiscard]] ncclResult_t ready();
    void begin(Attempt attempt);
    /// One question about the state.
    [[nodiscard]] ncclResult_t ask();
    /// Asks until there is an answer.
    [[nodiscard]] ncclResult_t complete();
    void fail(ncclResult_t error) { error_ = error; }
    void abort();
    [[nodiscard]] bool aborted() const { return aborted_; }

    int const rank;
    Segment segment;
    Mark last;                                 // behind the newest operation
    CUstream_st* last_stream = nullptr;        // only compared
    std::mutex executing;                      // one operation at a time
    std::atomic<std::uint64_t> unfinished{0};  // operations in streams
    std::atomic<int> splits{0};
    std::vector<std::uint64_t> connected;  // by peer: directions of messages so far
    std::shared_ptr<Tuner> tuner;          // from when all ranks are there
    Windows windows;
    std::shared_ptr<Inbox> inbox;  // from the first one-sided call on; uses those above

private:
    bool blocking_;
    std::mutex mutex_;
    std::deque<Attempt> attempts_;
    int questions_left_ = 0;
    std::atomic<ncclResult_t> error_{ncclSuccess};
    std::atomic<bool> aborted_{false};
};

/// All ranks tell each other two numbers.
class SetUpExchange {
public:
    SetUpExchange(Communicator& communicator, Given mine);
    /// What each rank gave, by rank; empty: not all have come.
    [[nodiscard]] std::optional<std::vector<Given>> try_to_end();

private:
    Communicator& communicator_;
    std::uint64_t came_;  // the phase in which all have given
    std::vector<Given> given_;
};

[[nodiscard]] ncclComm_t add_communicator(std::shared_ptr<Communicator> communicator);
/// Ends the process where `call` names a communicator that was destroyed, aborted or never made.
[[nodiscard]] std::shared_ptr<Communicator> communicator_of(ncclComm_t handle, char const* call);
void remove_communicator(ncclComm_t handle);

}  // namespace dlmb::fake_gpu
