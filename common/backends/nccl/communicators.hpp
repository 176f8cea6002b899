// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One NCCL communicator per group of ranks, made once and kept: initialisation costs seconds at scale.
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

    /// Collective over the world, also for ranks whose groups exist already. Throws Error when NCCL cannot connect.
    void prepare(std::span<Group const> groups);
    [[nodiscard]] ncclComm_t of(Group const& group) const { return communicators_.at(group.members); }
    [[nodiscard]] std::vector<ncclComm_t> all() const;
    /// After an asynchronous error: frees kernels that wait for a peer that will not come. None may be used again.
    void abort() noexcept;

private:
    [[nodiscard]] ncclComm_t initialise(ncclUniqueId const& id, std::vector<Rank> const& members) const;

    Bootstrap& bootstrap_;
    std::map<std::vector<Rank>, ncclComm_t> communicators_;
};

}  // namespace dlmb::nccl
