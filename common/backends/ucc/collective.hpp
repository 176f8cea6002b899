// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One collective step as a call of UCC, bound to buffers and to a team.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <string>
#include <ucc/api/ucc.h>
#include <vector>

namespace dlmb::ucc {

/// Why UCC cannot do the step in memory of this kind; empty: it can, or the step is a computation.
[[nodiscard]] std::string why_not(Operation const& operation, MemoryKind kind);

class CollectiveRequest {
public:
    /// `group_rank`: of this rank among the `ranks` of the team.
    CollectiveRequest(Operation const& operation, Buffers const& buffers, ucc_team_h team, std::size_t ranks,
                      std::size_t group_rank);
    CollectiveRequest(CollectiveRequest&&) noexcept;
    CollectiveRequest(CollectiveRequest const&) = delete;
    CollectiveRequest& operator=(CollectiveRequest const&) = delete;
    CollectiveRequest& operator=(CollectiveRequest&&) = delete;
    /// Takes a persistent request back. None may be in flight.
    ~CollectiveRequest();

    /// Collective over the team. Tries whether UCC supports the call; with `persistent` start() posts the same request
    /// in every iteration from here on.
    [[nodiscard]] bool prepare(bool persistent);
    void start();
    /// True once this rank's part is complete. The context has to be progressed in between.
    [[nodiscard]] bool test();

private:
    /// By rank of the team, in 64 bits: bytes, or elements of a reduction.
    struct Blocks {
        std::vector<std::uint64_t> counts;
        std::vector<std::uint64_t> displacements;
    };
    friend struct ArgumentsOfStep;

    ucc_coll_args_t args_{};
    ucc_team_h team_;
    ucc_coll_req_h request_ = nullptr;
    bool persistent_ = false;
    Blocks send_;
    Blocks recv_;
};

}  // namespace dlmb::ucc
