// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Methods put and get: one side of a message accesses the memory of the other. Each pair of ranks has two messages of 0
// bytes per step and direction besides: the one whose memory is accessed says that it may be, and the other one that it
// was. A put is over only when the peer's memory has it, so the endpoint is flushed before the second message.
#pragma once

#include "common/backends/ucx/lowering.hpp"
#include "common/backends/ucx/remote_memory.hpp"

#include <memory>
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

/// A peer whose memory this rank accesses.
struct AccessedPeer {
    Transfer ready;  // received
    std::vector<Access> accesses;
    Transfer over;  // sent
};

/// A peer that accesses the memory of this rank.
struct AccessingPeer {
    Transfer ready;  // sent
    Transfer over;   // received
};

struct OneSidedPlan {
    Verb verb = Verb::put;
    std::string name;  // "step 1 \"dispatch\"": for errors
    std::vector<AccessedPeer> accessed;
    std::vector<AccessingPeer> accessing;
};

/// Accesses in flight with a peer, of all steps. A flush of an endpoint never completes with UCX 1.22 where accesses by
/// CMA are in flight on it, so the two take turns.
class AccessesInFlight {
public:
    explicit AccessesInFlight(std::size_t ranks) : of_(ranks) {}
    [[nodiscard]] bool may_access(Rank peer) const { return at(peer).flushes == 0; }
    [[nodiscard]] bool may_flush(Rank peer) const { return at(peer).accesses == 0; }
    void accesses(Rank peer, std::size_t begun) { of_[static_cast<std::size_t>(peer)].accesses += begun; }
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

/// Collective. Of all steps that are done by put or get: where the first message of a step and a pair lies, by the tag
/// of the step's messages. Endpoints of all peers exist.
[[nodiscard]] std::unique_ptr<RemoteMemory> exchange_memory(Plan const& plan, Buffers const& buffers,
                                                            std::vector<LoweredStep> const& steps,
                                                            std::vector<StepMethod> const& methods,
                                                            MatchedTags const& tags, std::uint64_t first_operation,
                                                            Worker& worker);

/// The plan of a step whose method has this verb.
[[nodiscard]] OneSidedPlan one_sided_plan(Verb verb, LoweredStep const& step, std::string name, MatchedTags const& tags,
                                          std::uint64_t first_operation, Rank me, RemoteMemory const& memory,
                                          Worker const& worker);

/// Runs the plan, and the copies of the step beside it. The hot path: nothing is allocated, nothing virtual is called.
class OneSidedBatch {
public:
    OneSidedBatch(OneSidedPlan plan, BatchPlan copies, Messages& messages, AccessesInFlight& in_flight, Rank me);
    OneSidedBatch(OneSidedBatch const&) = delete;
    OneSidedBatch& operator=(OneSidedBatch const&) = delete;
    /// Requests left over by an exception are given up.
    ~OneSidedBatch();

    void start(ucp_tag_t iteration);
    /// True: nothing is left to wait for.
    [[nodiscard]] bool poll();
    [[nodiscard]] bool has_copies() const { return copies_.has_copies(); }

private:
    enum class Stage : std::uint8_t { waiting, ready, accessing, accessed, flushing, telling, over };
    struct Running {
        Stage stage = Stage::over;
        void* notice = nullptr;
        std::vector<void*> accesses;  // those in flight; never grows
    };

    [[nodiscard]] bool poll(AccessedPeer const& peer, Running& running);
    void access(AccessedPeer const& peer, Running& running);
    void flush(AccessedPeer const& peer, Running& running);
    [[nodiscard]] bool needs_flush(AccessedPeer const& peer) const {
        return plan_.verb == Verb::put && !peer.accesses.empty();
    }
    void keep(ucs_status_ptr_t request, AccessedPeer const& peer, Running& running) const;
    [[nodiscard]] bool all_complete(AccessedPeer const& peer, Running& running);
    [[nodiscard]] bool poll_sent(Transfer const& transfer, void*& request);
    [[nodiscard]] bool poll_received(Transfer const& transfer, void*& request);
    [[noreturn]] void fail(AccessedPeer const& peer, ucs_status_t status) const;

    OneSidedPlan plan_;
    MessageBatch copies_;
    Messages& messages_;
    AccessesInFlight& in_flight_;
    Rank me_;
    ucp_tag_t iteration_ = 0;
    std::vector<Running> running_;                    // of plan_.accessed
    std::vector<std::pair<void*, void*>> accessing_;  // of plan_.accessing: the requests of its two messages
};

}  // namespace dlmb::ucx
