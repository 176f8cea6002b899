// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan's buffers made known to NCCL, so that it need not copy them through buffers of its own. Whoever registers does
// so on all ranks.
#pragma once

#include "common/backend/backend.hpp"
#include "common/backends/nccl/communicators.hpp"

#include <string>
#include <vector>

namespace dlmb::nccl {

/// What was registered; undone when it dies.
class Registration {
public:
    struct Handle {
        ncclComm_t communicator;
        void* handle;
        void (*undo)(ncclComm_t communicator, void* handle) noexcept;
    };

    Registration() = default;
    Registration(Registration&&) noexcept = default;
    Registration& operator=(Registration&&) = delete;
    ~Registration();
    void add(Handle const& handle) { handles_.push_back(handle); }
    /// The communicators are no more.
    void leave() { handles_.clear(); }

private:
    std::vector<Handle> handles_;
};

/// Collective. Empty when the plan's buffers can be registered on all ranks; otherwise the reason, the same on all.
[[nodiscard]] std::string why_not_registered(Bootstrap& bootstrap, Plan const& plan, MemoryKind kind);
/// Collective. For kind cuda every buffer with every communicator that uses it (ncclCommRegister), for kind nccl the
/// buffers of exchanges and collectives as symmetric windows. Throws Error.
[[nodiscard]] Registration register_buffers(Plan const& plan, Buffers const& buffers, Bootstrap& bootstrap,
                                            Communicators& communicators);

}  // namespace dlmb::nccl
