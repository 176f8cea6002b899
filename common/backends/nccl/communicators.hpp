// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One NCCL communicator per group of ranks, made once and kept: initialisation costs seconds at scale. The world's
// comes first, from an id that rank 0 hands out; the others are split from it where the library can do that.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/plan/plan.hpp"

#include <nccl.h>

#include <map>
#include <span>
#include <vector>

namespace dlmb::nccl {

class Communicators {
public:
    explicit Communicators(Bootstrap& bootstrap) : bootstrap_(bootstrap) {}
    Communicators(Communicators const&) = delete;
    Communicators& operator=(Communicators const&) = delete;
    ~Communicators();

    /// Collective over the world, also for ranks whose groups exist already. Throws Error when NCCL cannot connect, and
    /// after an abort.
    void prepare(std::span<Group const> groups);
    [[nodiscard]] ncclComm_t world() const { return all_.front(); }
    [[nodiscard]] ncclComm_t of(Group const& group) const { return by_members_.at(group.members); }

    /// Throws Error, and aborts all, when one has failed.
    void throw_if_failed();
    /// Frees kernels that wait for a peer that will not come. None may be used again.
    void abort() noexcept;
    [[nodiscard]] bool aborted() const { return aborted_; }

    /// Time spent in prepare(), all calls together.
    [[nodiscard]] Nanoseconds init_ns() const { return init_ns_; }

private:
    void make_world();
    [[nodiscard]] std::vector<Group> new_groups(std::span<Group const> mine);
    void keep(Group const& group, ncclComm_t communicator);

    Bootstrap& bootstrap_;
    std::vector<ncclComm_t> all_;  // in the order of their making, the world's first
    std::map<std::vector<Rank>, ncclComm_t> by_members_;
    bool aborted_ = false;
    Nanoseconds init_ns_ = 0;
};

}  // namespace dlmb::nccl
