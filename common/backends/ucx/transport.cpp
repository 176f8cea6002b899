// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/transport.hpp"

#include "common/backends/ucx/check.hpp"
#include "common/backends/ucx/memory_stream.hpp"
#include "common/backends/ucx/tag.hpp"
#include "common/bootstrap/oversubscription.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace dlmb::ucx {
namespace {

ContextHandle make_context(Bootstrap const& bootstrap, ucp_config_t const& config) {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                        UCP_PARAM_FIELD_ESTIMATED_NUM_PPN | UCP_PARAM_FIELD_NAME;
    params.features = UCP_FEATURE_TAG;
    params.estimated_num_eps = static_cast<std::size_t>(bootstrap.size());
    params.estimated_num_ppn = static_cast<std::size_t>(bootstrap.local_size());
    params.name = "dlmb";
    ucp_context_h context = nullptr;
    check(ucp_init(&params, &config, &context), "ucp_init");
    return ContextHandle(context);
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

std::vector<bool> ranks_of_this_node(Bootstrap& bootstrap) {
    auto const name = std::as_bytes(std::span(bootstrap.host()));
    std::vector<bool> here;
    for (Blob const& other : bootstrap.all_gather(name)) {
        here.push_back(std::equal(other.begin(), other.end(), name.begin(), name.end()));
    }
    return here;
}

static_assert(Wire::native < Wire::loopback && Wire::loopback < Wire::sockets,
              "the slowest of all ranks is the largest");

/// What all ranks have: they must choose alike.
Wires agree_on_wires(ucp_context_h context, Bootstrap& bootstrap) {
    TransportNames const mine =
        transports_of_context(printed([context](std::FILE* out) { ucp_context_print_info(context, out); }));
    std::array<std::int64_t, 2> slowest{static_cast<std::int64_t>(wire_within_node(mine)),
                                        static_cast<std::int64_t>(wire_between_nodes(mine))};
    bootstrap.all_reduce(slowest, Fold::max);
    return {static_cast<Wire>(slowest[0]), static_cast<Wire>(slowest[1]), ranks_of_this_node(bootstrap)};
}

Provenance facts_of(ucp_config_t const& config, ContextSettings const& preferred) {
    Provenance facts = settings_of_interest(config);
    std::string& text = facts["ucx_set_by_dlmb"];
    for (auto const& [name, value] : preferred) {
        text += fmt::format("{}UCX_{}={}", text.empty() ? "" : " ", name, value);
    }
    if (text.empty()) {
        text = "none";
    }
    return facts;
}

}  // namespace

Transport::Transport(BackendContext const& context, ConfigHandle config, ContextSettings const& preferred)
    : bootstrap_(context.bootstrap), idle_(should_yield(context.yield, bootstrap_)),
      settings_(facts_of(*config, preferred)), context_(make_context(bootstrap_, *config)),
      worker_(make_worker(context_.get())), memory_types_(memory_types_of(context_.get())),
      addresses_(gather_addresses(worker_.get(), bootstrap_)),
      endpoints_(static_cast<std::size_t>(bootstrap_.size()), nullptr), operation_ids_(tag_field_limit),
      wires_(agree_on_wires(context_.get(), bootstrap_)), sharing_(wires_.on_this_node) {}

void Transport::close() {
    flush();
    bootstrap_.barrier();  // nobody closes while a peer may still need this side
    close_endpoints();
    bootstrap_.barrier();  // nobody leaves while a peer is still closing
}

void Transport::share_no_memory(std::string reason) {
    sharing_.assign(sharing_.size(), false);
    why_no_shared_memory_ = std::move(reason);
}

void Transport::connect(std::span<Rank const> peers) {
    std::vector<Rank> fresh;
    for (Rank const peer : peers) {
        if (endpoint(peer) == nullptr) {
            make_endpoint(peer);
            fresh.push_back(peer);
        }
    }
    greet(fresh);
    flush();
}

void Transport::make_endpoint(Rank peer) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    params.address = reinterpret_cast<ucp_address_t const*>(addresses_[static_cast<std::size_t>(peer)].data());
    params.err_mode = UCP_ERR_HANDLING_MODE_NONE;  // PEER loses shared memory: 7 to 10 times slower in one node
    check(ucp_ep_create(worker_.get(), &params, &endpoints_[static_cast<std::size_t>(peer)]), "ucp_ep_create");
}

void Transport::greet(std::span<Rank const> peers) {
    std::vector<std::uint64_t> heard(peers.size());
    std::uint64_t const said = 0;
    std::vector<ucs_status_ptr_t> requests;
    ucp_request_param_t const plain{};
    for (std::size_t i = 0; i < peers.size(); ++i) {
        requests.push_back(ucp_tag_recv_nbx(worker_.get(), &heard[i], sizeof heard[i],
                                            make_tag(TagKind::wire_up, 0, peers[i]), full_tag_mask, &plain));
    }
    for (Rank const peer : peers) {
        requests.push_back(ucp_tag_send_nbx(endpoint(peer), &said, sizeof said,
                                            make_tag(TagKind::wire_up, 0, bootstrap_.rank()), &plain));
    }
    for (ucs_status_ptr_t const request : requests) {
        wait(request, "wire-up message");
    }
}

void Transport::wait(ucs_status_ptr_t request, std::string_view call) {
    if (!UCS_PTR_IS_PTR(request)) {
        check(UCS_PTR_STATUS(request), call);
        return;
    }
    ucs_status_t status = UCS_INPROGRESS;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        progress_or_idle();
    }
    ucp_request_free(request);
    check(status, call);
}

void Transport::flush() {
    ucp_request_param_t const plain{};
    wait(ucp_worker_flush_nbx(worker_.get(), &plain), "ucp_worker_flush_nbx");
}

void Transport::close_endpoints() {
    ucp_request_param_t const plain{};
    std::vector<ucs_status_ptr_t> requests;
    for (ucp_ep_h& endpoint : endpoints_) {
        if (endpoint != nullptr) {
            requests.push_back(ucp_ep_close_nbx(endpoint, &plain));
            endpoint = nullptr;
        }
    }
    for (ucs_status_ptr_t const request : requests) {
        wait(request, "ucp_ep_close_nbx");
    }
}

std::string Transport::why_no(MemoryKind kind) const {
    return memory_types_.why_no(kind, settings_.find("ucx_tls")->second);
}

}  // namespace dlmb::ucx
