// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A compiled step of a plan: one native call with its arguments, or a few calls that belong together.
#pragma once

#include "common/bootstrap/mpi/mpi_check.hpp"

#include <mpi.h>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace dlmb::mpi {

/// Lets the library send and receive what is on its way. Calls on windows in shared memory do not.
inline void make_progress() {
    int found = 0;
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

/// start(), then wait(): the step alone. start(), then test() until true: the step among others. Which functions these
/// are is decided once, when the call is prepared.
class PreparedCall {
public:
    /// `Call` has start(). It has test() as well, unless it is complete when start() returns, and wait(), unless that
    /// is test() until it is true, with idle(), if it has that, in between.
    template <class Call>
    requires(!std::is_same_v<Call, PreparedCall>) explicit PreparedCall(Call call)
        : call_(new Call(std::move(call)), [](void* known) { delete static_cast<Call*>(known); }),
          start_([](void* known) { static_cast<Call*>(known)->start(); }) {
        if constexpr (requires { call.test(); }) {
            wait_ = [](void* known) { wait_for(*static_cast<Call*>(known)); };
            start_and_wait_ = [](void* known) {
                static_cast<Call*>(known)->start();
                wait_for(*static_cast<Call*>(known));
            };
            test_ = [](void* known) { return static_cast<Call*>(known)->test(); };
        } else {
            start_and_wait_ = start_;
            test_ = [](void* /*known*/) { return true; };
        }
    }

    void start() const { start_(call_.get()); }
    void wait() const {
        if (wait_ != nullptr) {
            wait_(call_.get());
        }
    }
    void start_and_wait() const { start_and_wait_(call_.get()); }
    [[nodiscard]] bool test() const { return test_(call_.get()); }
    /// It is complete when start() returns.
    [[nodiscard]] bool blocks() const { return wait_ == nullptr; }

private:
    template <class Call>
    static void wait_for(Call& call) {
        if constexpr (requires { call.wait(); }) {
            call.wait();
        } else {
            while (!call.test()) {
                if constexpr (requires { call.idle(); }) {
                    call.idle();
                }
            }
        }
    }

    std::unique_ptr<void, void (*)(void*)> call_;
    void (*start_)(void*);
    void (*wait_)(void*) = nullptr;
    void (*start_and_wait_)(void*) = nullptr;
    bool (*test_)(void*) = nullptr;
};

/// A collective in its blocking form.
template <class Call>
struct BlockingForm {
    void start() const { call.blocking(); }

    Call call;
};

/// A collective in its non-blocking form.
template <class Call>
struct NonblockingForm {
    void start() { call.nonblocking(request); }
    void wait() { check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait"); }
    [[nodiscard]] bool test() {
        int done = 0;
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        return done != 0;
    }

    Call call;
    MPI_Request request = MPI_REQUEST_NULL;
};

/// `Call` has blocking() and nonblocking(MPI_Request&). `concurrent`: steps overlap on some rank. Then all ranks must
/// make the non-blocking call, because MPI never matches it with a blocking one.
template <class Call>
[[nodiscard]] PreparedCall prepare_collective(Call call, bool concurrent) {
    return concurrent ? PreparedCall(NonblockingForm<Call>{std::move(call)})
                      : PreparedCall(BlockingForm<Call>{std::move(call)});
}

inline void wait_all(std::vector<MPI_Request>& requests) {
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

[[nodiscard]] inline bool test_all(std::vector<MPI_Request>& requests) {
    int done = 0;
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    return done != 0;
}

}  // namespace dlmb::mpi
