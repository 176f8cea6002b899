// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Puts or gets of one step at one peer, until the data is there. A put is over only when the peer's memory has it, so
// the endpoint is flushed behind puts. What tells the ranks when to begin, and that all is over, is the caller's.
#pragma once

#include "common/backends/ucx/methods.hpp"
#include "common/backends/ucx/worker.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dlmb::ucx {

/// One access to the memory of a peer.
struct Access {
    std::byte* here = nullptr;
    Bytes bytes = 0;
    std::uint64_t there = 0;  // an address of the peer
    ucp_rkey_h key = nullptr;
};

/// Steps with accesses in flight at a peer. A flush of an endpoint never completes with UCX 1.22 where accesses by CMA
/// are in flight on it, so the two take turns.
class AccessesInFlight {
public:
    explicit AccessesInFlight(std::size_t ranks) : of_(ranks) {}
    [[nodiscard]] bool may_access(Rank peer) const { return at(peer).flushes == 0; }
    [[nodiscard]] bool may_flush(Rank peer) const { return at(peer).accesses == 0; }
    void accesses(Rank peer) { ++of_[static_cast<std::size_t>(peer)].accesses; }
    void accessed(Rank peer) { --of_[static_cast<std::size_t>(peer)].accesses; }
    void flushes(Rank peer) { ++of_[static_cast<std::size_t>(peer)].flushes; }
    void flushed(Rank peer) { --of_[static_cast<std::size_t>(peer)].flushes; }

private:
    struct AccessCounts {
        std::size_t accesses = 0;
        std::size_t flushes = 0;
    };
    [[nodiscard]] AccessCounts const& at(Rank peer) const { return of_[static_cast<std::size_t>(peer)]; }
    std::vector<AccessCounts> of_;  // by world rank
};

/// Requests in flight, up to a number. Those left over by an exception are given up: UCX cannot cancel them.
class Requests {
public:
    /// `what`: "rank 0, accesses to rank 1", for errors.
    Requests(std::string what, std::size_t most) : what_(std::move(what)) { requests_.reserve(most); }
    Requests(Requests&&) noexcept = default;
    Requests(Requests const&) = delete;
    Requests& operator=(Requests const&) = delete;
    Requests& operator=(Requests&&) = delete;
    ~Requests();

    /// Takes the request that a call of UCX returned.
    void keep(ucs_status_ptr_t request);
    [[nodiscard]] bool all_complete();

private:
    std::string what_;
    std::vector<void*> requests_;
};

/// The hot path: nothing is allocated, nothing virtual is called.
class RemoteAccesses {
public:
    RemoteAccesses(Verb verb, Rank peer, ucp_ep_h endpoint, std::vector<Access> accesses, std::string what)
        : verb_(verb), peer_(peer), endpoint_(endpoint), accesses_(std::move(accesses)),
          requests_(std::move(what), accesses_.size() + 1) {}

    void start() { stage_ = Stage::ready; }
    /// True: the data is there.
    [[nodiscard]] bool advance(AccessesInFlight& in_flight);

private:
    enum class Stage : std::uint8_t { ready, accessing, accessed, flushing, over };
    void access();

    Verb verb_;
    Rank peer_;
    ucp_ep_h endpoint_;
    std::vector<Access> accesses_;
    Requests requests_;
    Stage stage_ = Stage::over;
};

}  // namespace dlmb::ucx
