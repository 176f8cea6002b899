// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/worker.hpp"

#include "common/backends/ucx/transports.hpp"
#include "common/base/output_file.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/memory/host_space.hpp"
#include "common/memory/shared_memory_space.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

namespace dlmb::ucx {
namespace {

thread_local Workers* workers_of_this_thread = nullptr;

ContextHandle make_context(Bootstrap const& bootstrap, ucp_config_t const& config, bool remote_memory) {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                        UCP_PARAM_FIELD_ESTIMATED_NUM_PPN | UCP_PARAM_FIELD_NAME;
    params.features = UCP_FEATURE_TAG | (remote_memory ? UCP_FEATURE_RMA : 0);
    params.estimated_num_eps = static_cast<std::size_t>(bootstrap.size());
    params.estimated_num_ppn = static_cast<std::size_t>(bootstrap.local_size());
    params.name = "dlmb";
    ucp_context_h context = nullptr;
    check(ucp_init(&params, &config, &context), "ucp_init");
    return {context, ucp_cleanup};
}

WorkerHandle make_worker(ucp_context_h context) {
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    params.thread_mode = UCS_THREAD_MODE_SINGLE;
    ucp_worker_h worker = nullptr;
    check(ucp_worker_create(context, &params, &worker), "ucp_worker_create");
    return WorkerHandle(worker);
}

MemoryTypes memory_types_of(ucp_context_h context) {
    ucp_context_attr_t attributes{};
    attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
    check(ucp_context_query(context, &attributes), "ucp_context_query");
    return MemoryTypes(attributes.memory_types);
}

std::vector<Blob> gather_addresses(ucp_worker_h worker, Bootstrap& bootstrap) {
    ucp_address_t* address = nullptr;
    std::size_t length = 0;
    check(ucp_worker_get_address(worker, &address, &length), "ucp_worker_get_address");
    auto const* const first = reinterpret_cast<std::byte const*>(address);
    Blob const mine(first, first + length);
    ucp_worker_release_address(worker, address);
    return bootstrap.all_gather(mine);
}

std::string transports_of(std::span<ucp_ep_h const> endpoints) {
    std::string info;
    for (ucp_ep_h const endpoint : endpoints) {
        if (endpoint != nullptr) {
            info += printed([endpoint](std::FILE* out) { ucp_ep_print_info(endpoint, out); });
        }
    }
    return info.empty() ? "none yet" : transports_in(info);
}

/// Without the place in the source.
std::string message_of(Error const& error) {
    std::string const text = error.what();
    return text.substr(0, text.rfind("\n  at "));
}

/// Remedies where UCX has no transport that works, or, without settings, does not take those of the environment; it
/// says more on standard error.
std::string remedy(Provenance const& settings) {
    if (settings.empty()) {
        return "; unset the variable UCX_... that UCX names above";
    }
    std::string text;
    if (auto const tls = settings.find("ucx_tls"); tls != settings.end() && tls->second != "all") {
        text += fmt::format("; UCX_TLS is {}: name transports that reach the other ranks, or leave it out (ucx_info -d "
                            "lists those of this node)",
                            tls->second);
    }
    if (auto const shared = shared_memory_space(); shared && shared->free < Bytes{1} << 30U) {
        text += fmt::format("; /dev/shm has {} free of {}: give the container more (--shm-size=1g), or set "
                            "UCX_TLS=^posix",
                            human_bytes(shared->free), human_bytes(shared->all));
    }
    return text;
}

}  // namespace

std::string run_time_version() {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    ucp_get_version(&major, &minor, &release);
    return fmt::format("{}.{}.{}", major, minor, release);
}

Worker::Worker(BackendContext const& context, Provenance settings, ContextHandle ucp_context)
    : bootstrap_(context.bootstrap), idle_(should_yield(context.yield, bootstrap_)), settings_(std::move(settings)),
      context_(std::move(ucp_context)), worker_(make_worker(context_.get())),
      memory_types_(memory_types_of(context_.get())), endpoints_(static_cast<std::size_t>(bootstrap_.size()), nullptr),
      operation_ids_(tag_field_limit) {}

void Worker::exchange_addresses() {
    addresses_ = gather_addresses(worker_.get(), bootstrap_);
}

void Worker::close() {
    if (!refused_.empty()) {
        return;  // some endpoints lead nowhere, and would be waited for
    }
    flush();
    bootstrap_.barrier();  // nobody closes while a peer may still need this side
    close_endpoints();
    bootstrap_.barrier();  // nobody leaves while a peer is still closing
}

std::string Worker::connect(std::span<Rank const> peers) {
    if (!refused_.empty()) {
        return refused_;
    }
    std::vector<Rank> fresh;
    std::string problem;
    for (Rank const peer : peers) {
        if (endpoint(peer) == nullptr && problem.empty()) {
            try {
                make_endpoint(peer);
                fresh.push_back(peer);
            } catch (Error const& error) {
                problem = fmt::format("rank {} cannot reach rank {}: {}", bootstrap_.rank(), peer, message_of(error));
            }
        }
    }
    // Before anyone waits for a message of a rank that cannot send it.
    refused_ = first_refusal(bootstrap_, problem.empty() ? "" : problem + remedy(settings_));
    if (refused_.empty()) {
        exchange_first_messages(fresh);
        flush();
    }
    return refused_;
}

void Worker::make_endpoint(Rank peer) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    params.address = reinterpret_cast<ucp_address_t const*>(addresses_[static_cast<std::size_t>(peer)].data());
    // UCX's default, said because it matters: mode PEER excludes UCX's shared-memory transports.
    params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
    check(ucp_ep_create(worker_.get(), &params, &endpoints_[static_cast<std::size_t>(peer)]), "ucp_ep_create");
}

void Worker::exchange_first_messages(std::span<Rank const> peers) {
    std::vector<std::uint64_t> received(peers.size());
    std::uint64_t const sent = 0;
    std::vector<ucs_status_ptr_t> requests;
    for (std::size_t i = 0; i < peers.size(); ++i) {
        requests.push_back(ucp_tag_recv_nbx(worker_.get(), &received[i], sizeof received[i],
                                            make_tag(TagKind::wire_up, 0, peers[i]), full_tag_mask, &no_options));
    }
    for (Rank const peer : peers) {
        requests.push_back(ucp_tag_send_nbx(endpoint(peer), &sent, sizeof sent,
                                            make_tag(TagKind::wire_up, 0, bootstrap_.rank()), &no_options));
    }
    for (ucs_status_ptr_t const request : requests) {
        wait(request, "wire-up message");
    }
}

void Worker::wait(ucs_status_ptr_t request, std::string_view call) {
    if (!UCS_PTR_IS_PTR(request)) {
        check(UCS_PTR_STATUS(request), call);
        return;
    }
    ucs_status_t status = UCS_INPROGRESS;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        if (!progress_or_yield()) {
            // The peer that this waits for may wait for what the bootstrap's library has of this rank.
            bootstrap_.progress();
        }
    }
    ucp_request_free(request);
    check(status, call);
}

void Worker::flush() {
    wait(ucp_worker_flush_nbx(worker_.get(), &no_options), "ucp_worker_flush_nbx");
}

void Worker::close_endpoints() {
    std::vector<ucs_status_ptr_t> requests;
    for (ucp_ep_h& endpoint : endpoints_) {
        if (endpoint != nullptr) {
            requests.push_back(ucp_ep_close_nbx(endpoint, &no_options));
            endpoint = nullptr;
        }
    }
    for (ucs_status_ptr_t const request : requests) {
        wait(request, "ucp_ep_close_nbx");
    }
}

std::string Worker::why_no(MemoryKind kind) const {
    return memory_types_.why_no(kind, settings_.find("ucx_tls")->second);
}

Provenance Worker::provenance() const {
    Provenance facts = settings_;
    facts["ucx_version"] = run_time_version();
    facts["ucx_headers"] = fmt::format("{}.{}", UCP_API_MAJOR, UCP_API_MINOR);
    facts["transports"] = transports_of(endpoints_);
    facts["progress_yield"] = idle_.yields() ? "yes" : "no";
    facts["error_mode"] = "none";
    facts["memory_types"] = memory_types_.text();
    return facts;
}

Workers* Workers::of_this_thread() {
    return workers_of_this_thread;
}

Workers::Workers(BackendContext context)
    : context_(std::move(context)), exceptions_at_start_(std::uncaught_exceptions()) {
    // Agreed on here: where UCX fails on one rank, that one makes no worker.
    context_.yield = should_yield(context_.yield, context_.bootstrap) ? YieldPolicy::always : YieldPolicy::never;
    why_not_ = make({}, false);
    if (!why_not_.empty()) {
        return;
    }
    active_ = &standard();
    workers_of_this_thread = this;
    progress_ = context_.bootstrap.add_progress([this] { progress(); });
}

Workers::~Workers() {
    workers_of_this_thread = workers_of_this_thread == this ? nullptr : workers_of_this_thread;
    bool const orderly = std::uncaught_exceptions() == exceptions_at_start_;
    try {
        for (WithSettings const& each : all_) {
            if (orderly) {
                each.worker->close();
            }
        }
    } catch (std::exception const& error) {
        print_error(fmt::format("dlmb: warning: rank {}: closing ucx: {}\n", context_.bootstrap.rank(), error.what()));
    }
}

Expected<Worker*, Unsupported> Workers::with(ContextSettings const& settings, bool remote_memory) {
    auto const found = std::find_if(all_.begin(), all_.end(), [&](WithSettings const& each) {
        return each.settings == settings && each.remote_memory == remote_memory;
    });
    if (found != all_.end()) {
        return found->worker.get();
    }
    if (std::string reason = make(settings, remote_memory); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    return all_.back().worker.get();
}

std::string Workers::make(ContextSettings const& settings, bool remote_memory) {
    Provenance in_effect;
    std::string problem;
    std::unique_ptr<Worker> worker;
    try {
        ConfigHandle const config = read_config();
        in_effect = settings_of_interest(*config);
        problem = set(*config, settings);
        if (problem.empty()) {
            worker = std::make_unique<Worker>(context_, settings_of_interest(*config),
                                              remote_memory && settings.empty()
                                                  ? remote_context()
                                                  : make_context(context_.bootstrap, *config, remote_memory));
        }
    } catch (Error const& error) {
        problem = fmt::format("rank {}: {}{}", context_.bootstrap.rank(), message_of(error), remedy(in_effect));
    }
    std::string reason = first_refusal(context_.bootstrap, problem);
    if (reason.empty()) {
        worker->exchange_addresses();
        all_.push_back({settings, remote_memory, std::move(worker)});
    }
    return reason;
}

ContextHandle Workers::remote_context() {
    if (remote_context_ == nullptr) {
        remote_context_ = make_context(context_.bootstrap, *read_config(), true);
    }
    return remote_context_;
}

void Workers::quiesce() {
    for (WithSettings const& each : all_) {
        each.worker->flush();
    }
    context_.bootstrap.barrier();  // makes progress while it waits: a peer's flush may need these workers
}

void Workers::progress() const {
    for (WithSettings const& each : all_) {
        ucp_worker_progress(each.worker->handle());
    }
}

}  // namespace dlmb::ucx
