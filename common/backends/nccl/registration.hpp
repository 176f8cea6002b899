// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that NCCL knows before it communicates: which buffers a plan uses with whom, and their registration.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/nccl/communicators.hpp"
#include "common/formats/plan/plan.hpp"

#include <map>
#include <vector>

namespace dlmb::nccl {

/// By the members of a group. Messages count as the world's; buffers without a byte are left out.
using BufferUses = std::map<std::vector<Rank>, std::vector<BufferId>>;

[[nodiscard]] BufferUses collective_uses(Plan const& plan);
[[nodiscard]] std::vector<BufferId> message_uses(Plan const& plan);

/// Registered buffers; undone when it dies, unless the communicators were aborted.
class Registration {
public:
    struct Handle {
        ncclComm_t communicator;
        void* handle;
        void (*undo)(ncclComm_t communicator, void* handle) noexcept;
    };

    explicit Registration(Communicators const& communicators) : communicators_(&communicators) {}
    Registration(Registration const&) = delete;
    Registration& operator=(Registration const&) = delete;
    Registration(Registration&&) noexcept = default;
    ~Registration();
    void add(Handle const& handle) { handles_.push_back(handle); }

private:
    Communicators const* communicators_;
    std::vector<Handle> handles_;
};

/// Collective. Adds every buffer with every communicator that uses it: exchanges and collectives in symmetric windows,
/// for memory of kind nccl where the library has them and the sizes of this plan's buffers are the same on all ranks;
/// everything else as user buffers. Throws Error.
void register_buffers(Plan const& plan, Buffers const& buffers, Bootstrap& bootstrap, Communicators& communicators,
                      Registration& registration);

/// ncclCommWindowRegister, NCCL 2.27 and later. nullptr: it can be called.
[[nodiscard]] char const* windows_missing();
/// Collective over the communicator, with equal sizes. Memory from ncclMemAlloc, at a multiple of 4096.
[[nodiscard]] Registration::Handle register_window(Bootstrap& bootstrap, ncclComm_t communicator, std::byte* data,
                                                   Bytes bytes);

}  // namespace dlmb::nccl
