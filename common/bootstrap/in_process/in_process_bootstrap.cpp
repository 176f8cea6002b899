// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/in_process_bootstrap.hpp"

#include "common/bootstrap/in_process/run_ranks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace dlmb::in_process {
namespace {

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string("localhost");
}

/// Error's text ends with its position, which the new Error adds again.
std::string without_position(std::string_view text) {
    return std::string(text.substr(0, text.rfind("\n  at ")));
}

std::string text_of(std::exception_ptr const& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (std::exception const& error) {
        return without_position(error.what());
    } catch (...) {
        return "an unknown exception";
    }
}

}  // namespace

/// `rounds` flags per rank. In round k a rank raises the flag of the rank 2^k further on and waits for its own, so
/// every flag has one writer, and it counts barriers, so it is never lowered. A raised flag carries a word; who raises
/// may be one barrier ahead of who reads, never two, so even and odd barriers have words of their own.
class BarrierFlags {
public:
    explicit BarrierFlags(int ranks)
        : ranks_(ranks), rounds_(static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)))),
          flags_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(rounds_)) {}
    [[nodiscard]] int rounds() const { return rounds_; }
    void raise(Rank me, int round, std::uint64_t barrier, std::int64_t word) noexcept {
        Flag& flag = of(static_cast<Rank>((std::int64_t{me} + (std::int64_t{1} << round)) % ranks_), round);
        flag.words[barrier % 2] = word;
        flag.barrier.store(barrier, std::memory_order_release);
    }
    [[nodiscard]] bool raised(Rank me, int round, std::uint64_t barrier) noexcept {
        return of(me, round).barrier.load(std::memory_order_acquire) >= barrier;
    }
    /// The word of a raised flag.
    [[nodiscard]] std::int64_t word(Rank me, int round, std::uint64_t barrier) noexcept {
        return of(me, round).words[barrier % 2];
    }

private:
    struct alignas(64) Flag {
        std::atomic<std::uint64_t> barrier{0};
        std::array<std::int64_t, 2> words{};
    };
    [[nodiscard]] Flag& of(Rank rank, int round) noexcept {
        return flags_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(rounds_) +
                      static_cast<std::size_t>(round)];
    }
    int ranks_;
    int rounds_;
    std::vector<Flag> flags_;
};

/// Messages to one rank that it has not taken yet.
class ReceiveQueue {
public:
    void put(Rank from, std::span<std::byte const> bytes) {
        std::lock_guard const lock(mutex_);
        blobs_.push_back({from, {bytes.begin(), bytes.end()}});
    }
    /// The oldest of that sender.
    [[nodiscard]] std::optional<Blob> take(Rank from) {
        std::lock_guard const lock(mutex_);
        auto const found =
            std::find_if(blobs_.begin(), blobs_.end(), [from](PeerBlob const& each) { return each.peer == from; });
        if (found == blobs_.end()) {
            return std::nullopt;
        }
        Blob blob = std::move(found->blob);
        blobs_.erase(found);
        return blob;
    }

private:
    std::mutex mutex_;
    std::deque<PeerBlob> blobs_;
};

/// A rank's data for the others in one collective call. Written before, read after a barrier.
struct Contribution {
    std::string_view call;
    Blob blob = {};
    std::vector<PeerBlob> blobs = {};
    std::vector<std::int64_t> values = {};
    std::shared_ptr<void> object = nullptr;
};

/// Shared by the threads of one run_ranks.
class World {
public:
    World(int size, int per_node)
        : ranks(size), ranks_per_node(per_node > 0 ? per_node : size), flags(size),
          contributions_(static_cast<std::size_t>(size)), receive_queues_(static_cast<std::size_t>(size)) {}
    [[nodiscard]] Contribution& contribution(Rank rank) { return contributions_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] ReceiveQueue& receive_queue(Rank rank) { return receive_queues_[static_cast<std::size_t>(rank)]; }

    /// The first failure is kept, later ones are its consequences. From then on leave_if_failed throws on every rank.
    void fail(Rank rank, std::exception_ptr reason) noexcept {
        std::lock_guard const lock(mutex_);
        if (first_failure_ == nullptr) {
            first_failure_ = std::move(reason);
            why_ = text_of(first_failure_);
            failed_rank_.store(rank, std::memory_order_release);
        }
    }
    void leave_if_failed() const {
        if (Rank const failed = failed_rank_.load(std::memory_order_acquire); failed >= 0) {
            throw PeerFailed(fmt::format("rank {} failed, this rank leaves: {}", failed, why_));
        }
    }
    void rethrow_first_failure() const;  // only when all ranks have ended

    int const ranks;
    int const ranks_per_node;
    std::string const host = host_name();
    BarrierFlags flags;

private:
    std::vector<Contribution> contributions_;
    std::vector<ReceiveQueue> receive_queues_;
    mutable std::mutex mutex_;
    std::exception_ptr first_failure_;
    std::string why_;  // before failed_rank_ says that there is one
    std::atomic<Rank> failed_rank_{-1};
};

void World::rethrow_first_failure() const {
    if (first_failure_ == nullptr) {
        return;
    }
    Rank const rank = failed_rank_.load();
    try {
        std::rethrow_exception(first_failure_);
    } catch (UsageError const&) {
        throw;
    } catch (OutputError const&) {
        throw;
    } catch (Error const& error) {
        throw Error(fmt::format("rank {}: {}", rank, without_position(error.what())), error.where());
    } catch (std::exception const& error) {
        throw Error(fmt::format("rank {}: {}", rank, error.what()));
    } catch (...) {
        throw Error(fmt::format("rank {}: an exception that is no std::exception", rank));
    }
}

InProcessBootstrap::InProcessBootstrap(World& world, Rank rank)
    : world_(world), rank_(rank),
      host_(world.ranks_per_node < world.ranks ? fmt::format("{}#{}", world.host, rank / world.ranks_per_node)
                                               : world.host) {}

int InProcessBootstrap::size() const {
    return world_.ranks;
}

void InProcessBootstrap::leave_if_failed() const {
    world_.leave_if_failed();
}

int InProcessBootstrap::local_rank() const {
    return rank_ % world_.ranks_per_node;
}

int InProcessBootstrap::local_size() const {
    return std::min(world_.ranks_per_node, world_.ranks - (rank_ - local_rank()));
}

std::int64_t InProcessBootstrap::barrier_max(std::int64_t mine) {
    world_.leave_if_failed();
    ++barriers_;
    BarrierFlags& flags = world_.flags;
    for (int round = 0; round < flags.rounds(); ++round) {
        flags.raise(rank_, round, barriers_, mine);
        while (!flags.raised(rank_, round, barriers_)) {
            world_.leave_if_failed();
            make_progress();
            idle_();
        }
        mine = std::max(mine, flags.word(rank_, round, barriers_));
    }
    return mine;
}

// A rank that leaves a failed world before the second barrier keeps its contribution: contributions belong to the
// world, and the first line refuses every later call.
template <class Read>
void InProcessBootstrap::meet(Contribution mine, Read const& read) {
    world_.leave_if_failed();
    std::string_view const call = mine.call;
    world_.contribution(rank_) = std::move(mine);
    barrier();
    for (Rank peer = 0; peer < size(); ++peer) {
        if (std::string_view const other = world_.contribution(peer).call; other != call) {
            throw Error(
                fmt::format("rank {} calls Bootstrap::{} while rank {} calls Bootstrap::{}", rank_, call, peer, other));
        }
    }
    read();
    barrier();
}

void InProcessBootstrap::check_rank(Rank rank, std::string_view call, std::string_view role) const {
    if (rank < 0 || rank >= size()) {
        throw Error(
            fmt::format("Bootstrap::{} on rank {}: {} {} is not one of {} ranks", call, rank_, role, rank, size()));
    }
}

std::vector<Blob> InProcessBootstrap::all_gather(std::span<std::byte const> mine) {
    std::vector<Blob> all(static_cast<std::size_t>(size()));
    Contribution shown{.call = "all_gather"};
    shown.blob.assign(mine.begin(), mine.end());
    meet(std::move(shown), [&] {
        for (Rank peer = 0; peer < size(); ++peer) {
            all[static_cast<std::size_t>(peer)] = world_.contribution(peer).blob;
        }
    });
    return all;
}

std::vector<PeerBlob> InProcessBootstrap::exchange(std::vector<PeerBlob> outgoing) {
    for (PeerBlob const& each : outgoing) {
        check_rank(each.peer, "exchange", "destination");
    }
    std::vector<PeerBlob> incoming;
    Contribution shown{.call = "exchange"};
    shown.blobs = std::move(outgoing);
    meet(std::move(shown), [&] {
        for (Rank peer = 0; peer < size(); ++peer) {
            for (PeerBlob const& each : world_.contribution(peer).blobs) {
                if (each.peer == rank_) {
                    incoming.push_back({peer, each.blob});
                }
            }
        }
    });
    return incoming;
}

void InProcessBootstrap::all_reduce(std::span<std::int64_t> values, Fold fold) {
    auto const folded = [fold](std::int64_t a, std::int64_t b) {
        return fold == Fold::sum ? a + b : fold == Fold::max ? std::max(a, b) : std::min(a, b);
    };
    Contribution shown{.call = "all_reduce"};
    shown.values.assign(values.begin(), values.end());
    meet(std::move(shown), [&] {
        for (Rank peer = 0; peer < size(); ++peer) {
            std::vector<std::int64_t> const& other = world_.contribution(peer).values;
            if (other.size() != values.size()) {
                throw Error(fmt::format("Bootstrap::all_reduce: rank {} has {} values, rank {} has {}", rank_,
                                        values.size(), peer, other.size()));
            }
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = peer == 0 ? other[i] : folded(values[i], other[i]);
            }
        }
    });
}

void InProcessBootstrap::broadcast(Blob& blob, Rank root) {
    check_rank(root, "broadcast", "root");
    Contribution shown{.call = "broadcast"};
    if (rank_ == root) {
        shown.blob = blob;
    }
    meet(std::move(shown), [&] { blob = world_.contribution(root).blob; });
}

void InProcessBootstrap::send(Rank peer, std::span<std::byte const> bytes) {
    check_rank(peer, "send", "destination");
    world_.receive_queue(peer).put(rank_, bytes);
}

void InProcessBootstrap::receive(Rank peer, std::span<std::byte> bytes) {
    check_rank(peer, "receive", "source");
    for (;;) {
        world_.leave_if_failed();
        if (std::optional<Blob> const blob = world_.receive_queue(rank_).take(peer)) {
            if (blob->size() != bytes.size()) {
                throw Error(fmt::format("bootstrap receive: {} bytes expected of rank {}, {} came", bytes.size(), peer,
                                        blob->size()));
            }
            std::copy(blob->begin(), blob->end(), bytes.begin());
            return;
        }
        make_progress();
        idle_();
    }
}

std::shared_ptr<void> InProcessBootstrap::share(std::shared_ptr<void> of_rank_0) {
    std::shared_ptr<void> shared;
    Contribution shown{.call = "share"};
    shown.object = std::move(of_rank_0);
    meet(std::move(shown), [&] { shared = world_.contribution(0).object; });
    world_.contribution(rank_).object.reset();  // the world is no owner: the last user ends the object's life
    return shared;
}

void InProcessBootstrap::abort(int exit_code) {
    // Not exit(): destructors and atexit handlers would run under ranks that are still at work.
    std::cout.flush();
    std::fflush(nullptr);
    std::_Exit(exit_code);
}

void run_ranks(int ranks, int ranks_per_node, RankBody const& body) {
    if (ranks < 1 || ranks_per_node < 0) {
        throw UsageError(fmt::format("{} ranks with {} per node: expected at least one rank and no negative number",
                                     ranks, ranks_per_node));
    }
    World world(ranks, ranks_per_node);
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(ranks));
    for (Rank rank = 0; rank < ranks; ++rank) {
        try {
            threads.emplace_back([&world, &body, rank]() noexcept {
                try {
                    InProcessBootstrap bootstrap(world, rank);
                    body(bootstrap);
                } catch (...) {
                    world.fail(rank, std::current_exception());
                }
            });
        } catch (std::system_error const& error) {  // those that run must not wait for this rank
            std::string const why = fmt::format(
                "its thread cannot be started: {}; give fewer --ranks, or raise the limits of processes and of memory "
                "(ulimit -u, ulimit -v)",
                error.what());
            world.fail(rank, std::make_exception_ptr(Error(why)));
            break;
        }
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    world.rethrow_first_failure();
}

}  // namespace dlmb::in_process
