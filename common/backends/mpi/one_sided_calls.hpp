// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One iteration of a step by one-sided calls. A peer may touch the memory of this rank only after this rank has come to
// the step, and this rank learns when all peers are done, as an application has to.
#pragma once

#include "common/backends/mpi/messages.hpp"
#include "common/backends/mpi/native_handle.hpp"

#include <algorithm>
#include <cstring>

namespace dlmb::mpi {

enum class Verb : std::uint8_t { put, get, accumulate };

inline void make(std::vector<MemoryCopy> const& copies) {
    for (MemoryCopy const& copy : copies) {
        std::memmove(copy.to, copy.from, copy.bytes);
    }
}

/// One native call.
struct WindowAccess {
    std::byte* here;
    MPI_Aint there;  // displacement in the window of the target
    int count;
};

struct Target {
    int peer;
    std::vector<WindowAccess> accesses;
};

/// Appends a block in as many calls as it takes.
inline void add_accesses(std::byte* here, MPI_Aint there, Bytes bytes, Bytes element, CallLimits const& limits,
                         std::vector<WindowAccess>& accesses) {
    Bytes const piece = std::max(limits.chunk_bytes / element, Bytes{1}) * element;
    Bytes first = 0;
    do {
        Bytes const part = std::min(piece, bytes - first);
        accesses.push_back({here + first, there + static_cast<MPI_Aint>(first), static_cast<int>(part / element)});
        first += part;
    } while (first < bytes);
}

/// Ranks are those of the communicator.
struct OneSidedStep {
    Verb verb;
    OneSidedSync sync;
    MPI_Datatype type = MPI_BYTE;
    MPI_Op operation = MPI_OP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Win window = MPI_WIN_NULL;
    int tag = 0;
    std::vector<Target> targets = {};     // whose memory this rank accesses, starting with the rank after it
    std::vector<int> origins = {};        // who access the memory of this rank
    std::vector<MemoryCopy> before = {};  // until they may
    std::vector<MemoryCopy> after = {};   // as soon as they have

    void access(Target const& target) const {
        for (WindowAccess const& each : target.accesses) {
            switch (verb) {
            case Verb::put:
                check(MPI_Put(each.here, each.count, type, target.peer, each.there, each.count, type, window),
                      "MPI_Put");
                break;
            case Verb::get:
                check(MPI_Get(each.here, each.count, type, target.peer, each.there, each.count, type, window),
                      "MPI_Get");
                break;
            case Verb::accumulate:
                check(MPI_Accumulate(each.here, each.count, type, target.peer, each.there, each.count, type, operation,
                                     window),
                      "MPI_Accumulate");
                break;
            }
        }
    }
    void access_all() const {
        for (Target const& target : targets) {
            access(target);
        }
    }
};

/// sync=fence.
struct Fenced {
    void start() const {
        make(step.before);
        check(MPI_Win_fence(MPI_MODE_NOPRECEDE, step.window), "MPI_Win_fence");
        step.access_all();
        check(MPI_Win_fence(MPI_MODE_NOSUCCEED, step.window), "MPI_Win_fence");
        make(step.after);
    }

    OneSidedStep step;
};

/// Some ranks of a communicator, as MPI wants them for an epoch; nullptr: none.
[[nodiscard]] inline GroupHandle rank_group(MPI_Comm comm, std::vector<int> const& ranks) {
    if (ranks.empty()) {
        return nullptr;
    }
    MPI_Group all = MPI_GROUP_NULL;
    check(MPI_Comm_group(comm, &all), "MPI_Comm_group");
    MPI_Group some = MPI_GROUP_NULL;
    check(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some), "MPI_Group_incl");
    check(MPI_Group_free(&all), "MPI_Group_free");
    return GroupHandle(new MPI_Group(some));
}

/// sync=pscw.
struct PostedAndStarted {
    void start() const {
        make(step.before);
        if (exposed_to != nullptr) {
            check(MPI_Win_post(*exposed_to, 0, step.window), "MPI_Win_post");
        }
        if (accessed != nullptr) {
            check(MPI_Win_start(*accessed, 0, step.window), "MPI_Win_start");
            step.access_all();
            check(MPI_Win_complete(step.window), "MPI_Win_complete");
        }
        if (exposed_to != nullptr) {
            check(MPI_Win_wait(step.window), "MPI_Win_wait");
        }
        make(step.after);
    }

    OneSidedStep step;
    GroupHandle exposed_to;
    GroupHandle accessed;
};

/// sync=lock, lock_all and flush: the target makes no call for the accesses. It says by a message that its memory is
/// ready, and hears by another one that an origin is done with it. From one peer both come with one tag, ready first.
class PassiveTarget {
public:
    explicit PassiveTarget(OneSidedStep step)
        : step_(std::move(step)), ready_(step_.targets.size(), MPI_REQUEST_NULL),
          others_(2 * step_.origins.size() + step_.targets.size(), MPI_REQUEST_NULL) {}
    void start() {
        make(step_.before);
        accessed_ = false;
        for (std::size_t i = 0; i < ready_.size(); ++i) {
            receive(step_.targets[i].peer, ready_[i]);
        }
        std::size_t const origins = step_.origins.size();
        for (std::size_t i = 0; i < origins; ++i) {
            receive(step_.origins[i], others_[i]);
            send(step_.origins[i], others_[origins + i]);
        }
    }
    void wait() {
        wait_all(ready_);
        access();
        wait_all(others_);
        make(step_.after);
    }
    [[nodiscard]] bool test() {
        if (!accessed_ && test_all(ready_)) {
            access();
            accessed_ = true;
        }
        if (!accessed_ || !test_all(others_)) {
            return false;
        }
        make(step_.after);
        return true;
    }

private:
    void receive(int peer, MPI_Request& request) const {
        check(MPI_Irecv(nullptr, 0, MPI_BYTE, peer, step_.tag, step_.comm, &request), "MPI_Irecv");
    }
    void send(int peer, MPI_Request& request) const {
        check(MPI_Isend(nullptr, 0, MPI_BYTE, peer, step_.tag, step_.comm, &request), "MPI_Isend");
    }
    /// Accesses all targets before the first is waited for: a flush at one may overlap with data on its way to the
    /// next.
    void access() {
        if (step_.sync == OneSidedSync::lock_all && !step_.targets.empty()) {
            check(MPI_Win_lock_all(0, step_.window), "MPI_Win_lock_all");
        }
        if (step_.sync != OneSidedSync::lock) {
            step_.access_all();
        }
        if (step_.sync == OneSidedSync::lock_all && !step_.targets.empty()) {
            check(MPI_Win_unlock_all(step_.window), "MPI_Win_unlock_all");
        }
        std::size_t next = 2 * step_.origins.size();
        for (Target const& target : step_.targets) {
            if (step_.sync == OneSidedSync::lock) {
                check(MPI_Win_lock(MPI_LOCK_SHARED, target.peer, 0, step_.window), "MPI_Win_lock");
                step_.access(target);
                check(MPI_Win_unlock(target.peer, step_.window), "MPI_Win_unlock");
            } else if (step_.sync == OneSidedSync::flush) {
                check(MPI_Win_flush(target.peer, step_.window), "MPI_Win_flush");
            }
            send(target.peer, others_[next++]);
        }
    }

    OneSidedStep step_;
    std::vector<MPI_Request> ready_;   // by target
    std::vector<MPI_Request> others_;  // by origin: that it is done, that this rank is ready; by target: done there
    bool accessed_ = false;
};

}  // namespace dlmb::mpi
