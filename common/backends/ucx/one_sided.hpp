// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Methods put and get: one side of a message accesses the memory of the other. Each pair of ranks has two messages of 0
// bytes per step and direction besides: the one whose memory is accessed says that it may be, and the other one that it
// was.
#pragma once

#include "common/backends/ucx/lowering.hpp"
#include "common/backends/ucx/remote_accesses.hpp"
#include "common/backends/ucx/remote_memory.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::ucx {

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

/// Collective. Of all steps that are done by put or get: where the first message of a step and a pair lies, by the tag
/// of the step's messages. Endpoints of all peers exist.
[[nodiscard]] std::unique_ptr<RemoteMemory> exchange_memory(Plan const& plan, Buffers const& buffers,
                                                            std::vector<LoweredStep> const& steps,
                                                            std::vector<StepMethod> const& methods, Worker& worker);

/// The plan of a step whose method has this verb.
[[nodiscard]] OneSidedPlan one_sided_plan(Verb verb, LoweredStep const& step, std::string name, Rank me,
                                          RemoteMemory const& memory, Worker const& worker);

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
    enum class Stage : std::uint8_t { waiting, accessing, telling, over };
    struct Running {
        RemoteAccesses accesses;
        Stage stage = Stage::over;
        void* notice = nullptr;
    };

    [[nodiscard]] bool poll(AccessedPeer const& peer, Running& running);
    [[nodiscard]] bool poll_sent(Transfer const& transfer, void*& request);
    [[nodiscard]] bool poll_received(Transfer const& transfer, void*& request);

    OneSidedPlan plan_;
    MessageBatch copies_;
    Messages& messages_;
    AccessesInFlight& in_flight_;
    ucp_tag_t iteration_ = 0;
    std::vector<Running> running_;                    // of plan_.accessed
    std::vector<std::pair<void*, void*>> accessing_;  // of plan_.accessing: the requests of its two messages
};

}  // namespace dlmb::ucx
