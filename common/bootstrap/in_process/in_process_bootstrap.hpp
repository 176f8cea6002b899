// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One rank's view of the threads of one run_ranks, which makes it; the backend in_process finds its peers through it.
#pragma once

#include "common/base/error.hpp"
#include "common/bootstrap/bootstrap.hpp"

#include <memory>

namespace dlmb::in_process {

/// Thrown by waiting calls of ranks that are well, once another rank has failed. The other rank's exception is the
/// news.
class PeerFailed : public Error {
public:
    using Error::Error;
};

class World;
struct Contribution;

class InProcessBootstrap final : public Bootstrap {
public:
    /// `world` outlives it.
    InProcessBootstrap(World& world, Rank rank);

    [[nodiscard]] std::string_view kind() const override { return "in_process"; }
    [[nodiscard]] Rank rank() const override { return rank_; }
    [[nodiscard]] int size() const override;
    [[nodiscard]] int local_rank() const override;
    [[nodiscard]] int local_size() const override;
    [[nodiscard]] Rank node_leader() const override { return rank_ - local_rank(); }
    [[nodiscard]] std::string const& host() const override { return host_; }
    [[nodiscard]] std::map<std::string, std::string, std::less<>> facts() const override {
        return {{"ranks_are", "threads of one process"}};
    }

    [[nodiscard]] std::int64_t barrier_max(std::int64_t mine) override;
    [[nodiscard]] std::vector<Blob> all_gather(std::span<std::byte const> mine) override;
    [[nodiscard]] std::vector<PeerBlob> exchange(std::vector<PeerBlob> outgoing) override;
    void all_reduce(std::span<std::int64_t> values, Fold fold) override;
    void broadcast(Blob& blob, Rank root) override;
    void send(Rank peer, std::span<std::byte const> bytes) override;
    void receive(Rank peer, std::span<std::byte> bytes) override;
    [[noreturn]] void abort(int exit_code) override;

    /// Collective. Rank 0's object, on every rank: ranks that are threads can share more than blobs.
    [[nodiscard]] std::shared_ptr<void> share(std::shared_ptr<void> of_rank_0);
    /// For a transport that waits on its own: throws PeerFailed once another rank has failed.
    void leave_if_failed() const;

private:
    /// Shows `mine` to all ranks, calls read() while every rank's contribution is valid, and returns when all have
    /// read.
    template <class Read>
    void meet(Contribution mine, Read const& read);
    void check_rank(Rank rank, std::string_view call, std::string_view role) const;

    World& world_;
    Rank rank_;
    std::string host_;
    Idle idle_{true};  // nothing that is timed waits here, and threads of a busy machine need each other's cores
    std::uint64_t barriers_ = 0;
};

}  // namespace dlmb::in_process
