// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/transports.hpp"

#include "common/base/error.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>

namespace dlmb::ucx {

Transports::Transports(BackendContext const& context)
    : context_(context), exceptions_at_start_(std::uncaught_exceptions()) {
    if (std::string const problem = make({}); !problem.empty()) {
        throw Error(problem);
    }
    active_ = &standard();
    progress_ = context_.bootstrap.add_progress([this] { progress(); });
}

Transports::~Transports() {
    bool const orderly = std::uncaught_exceptions() == exceptions_at_start_;
    try {
        for (auto const& [settings, transport] : all_) {
            if (orderly) {
                transport->close();
            }
        }
    } catch (std::exception const& error) {
        fmt::print(stderr, "dlmb: warning: rank {}: closing ucx: {}\n", context_.bootstrap.rank(), error.what());
    }
}

Expected<Transport*, Unsupported> Transports::with(ContextSettings const& settings) {
    auto const found =
        std::find_if(all_.begin(), all_.end(), [&](WithSettings const& each) { return each.first == settings; });
    if (found != all_.end()) {
        return found->second.get();
    }
    if (std::string reason = make(settings); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    return all_.back().second.get();
}

std::string Transports::make(ContextSettings const& settings) {
    Bootstrap& bootstrap = context_.bootstrap;
    ConfigHandle config = read_config();
    std::string reason = first_refusal(bootstrap, set(*config, settings));
    if (reason.empty()) {
        ContextSettings const preferred = prefer_for_tcp(*config, bootstrap.local_size() == bootstrap.size());
        all_.emplace_back(settings, std::make_unique<Transport>(context_, std::move(config), preferred));
    }
    return reason;
}

void Transports::quiesce() {
    for (auto const& [settings, transport] : all_) {
        transport->flush();
    }
    context_.bootstrap.barrier();  // makes progress while it waits: a peer's flush may need these workers
}

void Transports::progress() const {
    for (auto const& [settings, transport] : all_) {
        ucp_worker_progress(transport->worker());
    }
}

}  // namespace dlmb::ucx
