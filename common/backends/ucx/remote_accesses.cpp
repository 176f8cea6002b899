// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/remote_accesses.hpp"

#include "common/backends/ucx/ucp.hpp"

#include <algorithm>

namespace dlmb::ucx {

Requests::~Requests() {
    std::for_each(requests_.begin(), requests_.end(), ucp_request_free);
}

void Requests::keep(ucs_status_ptr_t request) {
    if (UCS_PTR_IS_ERR(request)) {
        check(UCS_PTR_STATUS(request), what_);
    }
    if (request != nullptr) {
        requests_.push_back(request);
    }
}

bool Requests::all_complete() {
    while (!requests_.empty()) {
        ucs_status_t const status = ucp_request_check_status(requests_.back());
        if (status == UCS_INPROGRESS) {
            return false;
        }
        ucp_request_free(requests_.back());
        requests_.pop_back();
        if (status != UCS_OK) {
            check(status, what_);
        }
    }
    return true;
}

bool RemoteAccesses::advance(AccessesInFlight& in_flight) {
    switch (stage_) {
    case Stage::ready:
        if (!in_flight.may_access(peer_)) {
            return false;
        }
        access();
        in_flight.accesses(peer_);
        stage_ = Stage::accessing;
        [[fallthrough]];
    case Stage::accessing:
        if (!requests_.all_complete()) {
            return false;
        }
        in_flight.accessed(peer_);
        stage_ = Stage::accessed;
        [[fallthrough]];
    case Stage::accessed:
        if (verb_ == Verb::get || accesses_.empty()) {
            break;
        }
        if (!in_flight.may_flush(peer_)) {
            return false;
        }
        requests_.keep(ucp_ep_flush_nbx(endpoint_, &no_options));
        in_flight.flushes(peer_);
        stage_ = Stage::flushing;
        [[fallthrough]];
    case Stage::flushing:
        if (!requests_.all_complete()) {
            return false;
        }
        in_flight.flushed(peer_);
        break;
    case Stage::over:
        break;
    }
    stage_ = Stage::over;
    return true;
}

void RemoteAccesses::access() {
    for (Access const& each : accesses_) {
        requests_.keep(verb_ == Verb::put
                           ? ucp_put_nbx(endpoint_, each.here, each.bytes, each.there, each.key, &no_options)
                           : ucp_get_nbx(endpoint_, each.here, each.bytes, each.there, each.key, &no_options));
    }
}

}  // namespace dlmb::ucx
