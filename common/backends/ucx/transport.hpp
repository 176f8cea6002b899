// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One UCX context and worker of one rank, with endpoints to the peers that plans have named so far. It knows nothing of
// plans, steps and methods.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/ucx/handles.hpp"
#include "common/backends/ucx/memory_types.hpp"
#include "common/backends/ucx/operation_ids.hpp"
#include "common/backends/ucx/settings.hpp"
#include "common/backends/ucx/wires.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlmb::ucx {

class Transport {
public:
    /// Collective: ranks learn each other's worker addresses. `preferred`: what DLMB has set in `config` of itself, for
    /// the record.
    Transport(BackendContext const& context, ConfigHandle config, ContextSettings const& preferred);
    Transport(Transport const&) = delete;
    Transport& operator=(Transport const&) = delete;
    ~Transport() = default;
    /// Collective. Nothing may be in flight afterwards, and no endpoint is left.
    void close();

    /// Makes endpoints to new peers and sends a first message both ways, so that no connection is made inside an
    /// iteration. Both sides of a pair must call it.
    void connect(std::span<Rank const> peers);
    [[nodiscard]] ucp_ep_h endpoint(Rank peer) const { return endpoints_[static_cast<std::size_t>(peer)]; }
    [[nodiscard]] ucp_context_h context() const { return context_.get(); }
    [[nodiscard]] ucp_worker_h worker() const { return worker_.get(); }

    /// One round of progress; gives the core away when nothing moved and the yield policy says so.
    void progress_or_idle() const {
        if (ucp_worker_progress(worker_.get()) == 0) {
            idle_();
        }
    }
    /// Waits until every posted operation has reached its peer.
    void flush();

    /// By world rank, whether it may share memory with this one: on the same node, and not found otherwise.
    [[nodiscard]] std::vector<bool> const& sharing() const { return sharing_; }
    /// Alike on all ranks.
    void share_no_memory(std::string reason);
    [[nodiscard]] std::string const& why_no_shared_memory() const { return why_no_shared_memory_; }

    [[nodiscard]] Wires const& wires() const { return wires_; }
    [[nodiscard]] MemoryTypes const& memory_types() const { return memory_types_; }
    /// Why memory of this kind cannot be used; empty when it can.
    [[nodiscard]] std::string why_no(MemoryKind kind) const;
    [[nodiscard]] OperationIds& operation_ids() { return operation_ids_; }
    [[nodiscard]] Bootstrap& bootstrap() const { return bootstrap_; }
    [[nodiscard]] Idle const& idle() const { return idle_; }
    [[nodiscard]] Provenance const& settings() const { return settings_; }
    [[nodiscard]] std::span<ucp_ep_h const> endpoints() const { return endpoints_; }  // by world rank; nullptr: none

private:
    void make_endpoint(Rank peer);
    void greet(std::span<Rank const> peers);
    void wait(ucs_status_ptr_t request, std::string_view call);
    void close_endpoints();

    Bootstrap& bootstrap_;
    Idle idle_;
    Provenance settings_;  // what context_ was made with
    ContextHandle context_;
    WorkerHandle worker_;
    MemoryTypes memory_types_;
    std::vector<Blob> addresses_;
    std::vector<ucp_ep_h> endpoints_;
    OperationIds operation_ids_;
    Wires wires_;
    std::vector<bool> sharing_;
    std::string why_no_shared_memory_;  // empty: nothing speaks against it so far
};

}  // namespace dlmb::ucx
