// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the threads of one run_ranks share, and one rank's view of it. Made by run_ranks; the backend in_process finds
// its peers through it.
#pragma once

#include "common/base/error.hpp"
#include "common/bootstrap/bootstrap.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb::in_process {

/// Thrown by waiting calls of ranks that are well, once another rank has failed. The other rank's exception is the
/// news.
class PeerFailed : public Error {
public:
    using Error::Error;
};

/// What a rank shows to the others in one collective call. Written before, read after a barrier.
struct Contribution {
    std::string_view call;
    Blob blob = {};
    std::vector<Letter> letters = {};
    std::vector<std::int64_t> values = {};
    std::shared_ptr<void> object = nullptr;
};

/// `rounds` flags per rank. In round k a rank raises the flag of the rank 2^k further on and waits for its own, so
/// every flag has one writer, and it counts barriers, so it is never lowered. A raised flag carries a word; who raises
/// may be one barrier ahead of who reads, never two, so even and odd barriers have words of their own.
class BarrierFlags {
public:
    explicit BarrierFlags(int ranks);
    [[nodiscard]] int rounds() const { return rounds_; }
    void raise(Rank me, int round, std::uint64_t barrier, std::int64_t word) noexcept;
    [[nodiscard]] bool raised(Rank me, int round, std::uint64_t barrier) const noexcept;
    /// Of a flag that is raised.
    [[nodiscard]] std::int64_t word(Rank me, int round, std::uint64_t barrier) const noexcept;

private:
    struct alignas(64) Flag {
        std::atomic<std::uint64_t> barrier{0};
        std::array<std::int64_t, 2> words{};
    };
    [[nodiscard]] std::size_t index(Rank rank, int round) const;
    int ranks_;
    int rounds_;
    std::vector<Flag> flags_;
};

/// What other ranks sent to one rank and it has not taken yet.
class Inbox {
public:
    void put(Rank from, std::span<std::byte const> bytes);
    /// The oldest of that sender.
    [[nodiscard]] std::optional<Blob> take(Rank from);

private:
    std::mutex mutex_;
    std::deque<Letter> letters_;
};

class World {
public:
    World(int ranks, int ranks_per_node);
    [[nodiscard]] int ranks() const { return ranks_; }
    [[nodiscard]] int ranks_per_node() const { return ranks_per_node_; }
    [[nodiscard]] std::string const& host() const { return host_; }
    [[nodiscard]] BarrierFlags& flags() { return flags_; }
    [[nodiscard]] Contribution& contribution(Rank rank) { return contributions_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] Inbox& inbox(Rank rank) { return inboxes_[static_cast<std::size_t>(rank)]; }

    /// The first failure is kept, later ones are its consequences. From then on leave_if_failed throws on every rank.
    void fail(Rank rank, std::exception_ptr reason) noexcept;
    void leave_if_failed() const;
    void rethrow_first_failure() const;  // only when all ranks have ended

private:
    int ranks_;
    int ranks_per_node_;
    std::string host_;
    BarrierFlags flags_;
    std::vector<Contribution> contributions_;
    std::vector<Inbox> inboxes_;
    mutable std::mutex mutex_;
    std::exception_ptr first_failure_;
    std::atomic<Rank> failed_rank_{-1};
};

class InProcessBootstrap final : public Bootstrap {
public:
    /// `world` outlives it.
    InProcessBootstrap(World& world, Rank rank);

    [[nodiscard]] std::string_view kind() const override { return "in_process"; }
    [[nodiscard]] Rank rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return world_.ranks(); }
    [[nodiscard]] int local_rank() const override;
    [[nodiscard]] int local_size() const override;
    [[nodiscard]] Rank node_leader() const override { return rank_ - local_rank(); }
    [[nodiscard]] std::string const& host() const override { return host_; }
    [[nodiscard]] std::map<std::string, std::string, std::less<>> facts() const override;

    [[nodiscard]] std::int64_t barrier_max(std::int64_t mine) override;
    [[nodiscard]] std::vector<Blob> all_gather(std::span<std::byte const> mine) override;
    [[nodiscard]] std::vector<Letter> exchange(std::vector<Letter> outgoing) override;
    void all_reduce(std::span<std::int64_t> values, Fold fold) override;
    void broadcast(Blob& blob, Rank root) override;
    void send(Rank peer, std::span<std::byte const> bytes) override;
    void receive(Rank peer, std::span<std::byte> bytes) override;
    [[noreturn]] void abort(int exit_code) override;

    /// Collective. Rank 0's object, on every rank: ranks that are threads can share more than blobs.
    [[nodiscard]] std::shared_ptr<void> share(std::shared_ptr<void> of_rank_0);
    /// For a transport that waits on its own: throws PeerFailed once another rank has failed.
    void leave_if_failed() const { world_.leave_if_failed(); }

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
