// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A rank's access to UCX. A Worker is one UCX context and worker, with endpoints to the peers that plans have
// named so far. UCX reads its settings when a context is made, so Workers has one for each set of settings that a
// method asks for. None of this knows plans, steps or methods.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/ucx/tags.hpp"
#include "common/backends/ucx/ucp.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dlmb::ucx {

/// Version of the UCX library that runs: "1.13.1".
[[nodiscard]] std::string run_time_version();

class Worker {
public:
    /// Not collective. `settings`: what the context was made with. Throws Error where UCX cannot be used here.
    Worker(BackendContext const& context, Provenance settings, ContextHandle ucp_context);
    Worker(Worker const&) = delete;
    Worker& operator=(Worker const&) = delete;
    ~Worker() = default;
    /// Collective. Nothing may be in flight afterwards, and no endpoint is left.
    void close();

    /// Collective. Before the first connect().
    void exchange_addresses();
    /// Collective. Makes endpoints to new peers and sends a first message both ways, so that no connection is made
    /// inside an iteration. Both sides of a pair must name each other. Returns why some rank cannot reach a peer, alike
    /// on all ranks; empty: all can. After a refusal it makes no connection any more.
    [[nodiscard]] std::string connect(std::span<Rank const> peers);
    [[nodiscard]] ucp_ep_h endpoint(Rank peer) const { return endpoints_[static_cast<std::size_t>(peer)]; }
    [[nodiscard]] ucp_worker_h handle() const { return worker_.get(); }
    [[nodiscard]] ucp_context_h context() const { return context_.get(); }

    /// One round of progress. False: nothing moved.
    bool progress() const { return ucp_worker_progress(worker_.get()) != 0; }
    /// The same; gives the core away when nothing moved and the yield policy says so. False: nothing
    /// moved. It does not pause otherwise: UCX's own loops poll without, and a message would wait for the end of the
    /// pause.
    bool progress_or_yield() const {
        bool const moved = progress();
        if (!moved && idle_.yields()) {
            idle_();
        }
        return moved;
    }
    /// Waits until every posted operation has reached its peer.
    void flush();

    [[nodiscard]] MemoryTypes const& memory_types() const { return memory_types_; }
    /// Why memory of this kind cannot be used; empty when it can.
    [[nodiscard]] std::string why_no(MemoryKind kind) const;
    [[nodiscard]] OperationIds& operation_ids() { return operation_ids_; }
    [[nodiscard]] Bootstrap& bootstrap() const { return bootstrap_; }
    /// For the record: versions, settings in effect, transports of the endpoints in use.
    [[nodiscard]] Provenance provenance() const;

private:
    void make_endpoint(Rank peer);
    void exchange_first_messages(std::span<Rank const> peers);
    void wait(ucs_status_ptr_t request, std::string_view call);
    void close_endpoints();

    Bootstrap& bootstrap_;
    Idle idle_;
    Provenance settings_;
    ContextHandle context_;
    WorkerHandle worker_;
    MemoryTypes memory_types_;
    std::vector<Blob> addresses_;
    std::vector<ucp_ep_h> endpoints_;  // by world rank; nullptr: none yet
    std::string refused_;              // by connect()
    OperationIds operation_ids_;
};

class Workers {
public:
    /// Collective, as are all calls below that are not const. Look at why_not() before anything else.
    explicit Workers(BackendContext context);
    /// Why UCX cannot be used on some rank, and what to do, alike on all ranks; empty: it can.
    [[nodiscard]] std::string const& why_not() const { return why_not_; }
    Workers(Workers const&) = delete;
    Workers& operator=(Workers const&) = delete;
    /// Collective, unless an exception is on its way: then nothing is waited for.
    ~Workers();

    /// With the settings of the user's environment.
    [[nodiscard]] Worker& standard() const { return *all_.front().worker; }
    /// Made when these settings are first asked for. `remote_memory`: for ucp_put_nbx and ucp_get_nbx, too, which may
    /// make UCX choose other transports; so messages do without. Unsupported alike on all ranks.
    [[nodiscard]] Expected<Worker*, Unsupported> with(ContextSettings const& settings, bool remote_memory = false);

    /// Not collective. The context of the worker with(), for remote memory and without settings.
    [[nodiscard]] ContextHandle remote_context();
    /// The usable ones that this thread made last; nullptr: there are none.
    [[nodiscard]] static Workers* of_this_thread();

    /// Before plans of `next` run where those of another worker may have: a waiting plan progresses its own worker
    /// only, so nothing that a peer still needs may be left in another one. False: it is active already.
    bool switch_to(Worker& next) {
        if (active_ == &next) {
            return false;
        }
        quiesce();
        active_ = &next;
        return true;
    }
    /// Waits until every posted operation of all ranks has reached its peer.
    void quiesce();

private:
    struct WithSettings {
        ContextSettings settings;
        bool remote_memory;
        std::unique_ptr<Worker> worker;
    };

    void progress() const;
    /// Makes a worker with these settings. Returns why that is impossible, or an empty text.
    [[nodiscard]] std::string make(ContextSettings const& settings, bool remote_memory);

    BackendContext context_;
    std::string why_not_;
    ContextHandle remote_context_;
    int exceptions_at_start_;
    std::vector<WithSettings> all_;
    Worker* active_ = nullptr;
    ProgressHandle progress_;  // removed before the workers that it progresses
};

}  // namespace dlmb::ucx
