// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan's buffers made known to NCCL, so that it need not copy them through buffers of its own. Whoever registers does
// so on all ranks.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/nccl/communicators.hpp"

#include <utility>
#include <vector>

namespace dlmb::nccl {

/// What was registered; undone when it dies, unless the communicators were aborted.
class Registration {
public:
    struct Handle {
        ncclComm_t communicator;
        void* handle;
        void (*undo)(ncclComm_t communicator, void* handle) noexcept;
    };

    Registration() = default;  // of nothing
    explicit Registration(Communicators const& communicators) : communicators_(&communicators) {}
    Registration(Registration const&) = delete;
    Registration& operator=(Registration const&) = delete;
    Registration(Registration&&) noexcept = default;
    Registration& operator=(Registration&& other) noexcept {
        std::swap(communicators_, other.communicators_);
        std::swap(handles_, other.handles_);
        return *this;
    }
    ~Registration();
    void add(Handle const& handle) { handles_.push_back(handle); }

private:
    Communicators const* communicators_ = nullptr;
    std::vector<Handle> handles_;
};

/// windows: symmetric ones, for exchanges and collectives.
enum class RegistrationWay { user_buffers, windows };

/// Collective. Windows for memory of kind nccl where the library has them and the sizes of this plan's buffers are the
/// same on all ranks, user buffers elsewhere. Unsupported, on all ranks, where the library has neither.
[[nodiscard]] Expected<RegistrationWay, Unsupported> way_to_register(Bootstrap& bootstrap, Plan const& plan,
                                                                     MemoryKind kind);
/// Collective. Every buffer with every communicator that uses it. Throws Error.
[[nodiscard]] Registration register_buffers(RegistrationWay way, Plan const& plan, Buffers const& buffers,
                                            Bootstrap& bootstrap, Communicators& communicators);

}  // namespace dlmb::nccl
