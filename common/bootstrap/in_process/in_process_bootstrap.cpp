// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/in_process_bootstrap.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
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

}  // namespace

BarrierFlags::BarrierFlags(int ranks)
    : ranks_(ranks), rounds_(static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)))),
      flags_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(rounds_)) {}

std::size_t BarrierFlags::index(Rank rank, int round) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(rounds_) + static_cast<std::size_t>(round);
}

void BarrierFlags::raise(Rank me, int round, std::uint64_t barrier, std::int64_t word) noexcept {
    auto const peer = static_cast<Rank>((std::int64_t{me} + (std::int64_t{1} << round)) % ranks_);
    Flag& flag = flags_[index(peer, round)];
    flag.words[barrier % 2] = word;
    flag.barrier.store(barrier, std::memory_order_release);
}

bool BarrierFlags::raised(Rank me, int round, std::uint64_t barrier) const noexcept {
    return flags_[index(me, round)].barrier.load(std::memory_order_acquire) >= barrier;
}

std::int64_t BarrierFlags::word(Rank me, int round, std::uint64_t barrier) const noexcept {
    return flags_[index(me, round)].words[barrier % 2];
}

void Inbox::put(Rank from, std::span<std::byte const> bytes) {
    std::lock_guard const lock(mutex_);
    letters_.push_back({from, {bytes.begin(), bytes.end()}});
}

std::optional<Blob> Inbox::take(Rank from) {
    std::lock_guard const lock(mutex_);
    auto const found =
        std::find_if(letters_.begin(), letters_.end(), [from](Letter const& letter) { return letter.peer == from; });
    if (found == letters_.end()) {
        return std::nullopt;
    }
    Blob blob = std::move(found->blob);
    letters_.erase(found);
    return blob;
}

World::World(int ranks, int ranks_per_node)
    : ranks_(ranks), ranks_per_node_(ranks_per_node > 0 ? ranks_per_node : ranks), host_(host_name()), flags_(ranks),
      contributions_(static_cast<std::size_t>(ranks)), inboxes_(static_cast<std::size_t>(ranks)) {}

void World::fail(Rank rank, std::exception_ptr reason) noexcept {
    std::lock_guard const lock(mutex_);
    if (first_failure_ == nullptr) {
        first_failure_ = std::move(reason);
        failed_rank_.store(rank, std::memory_order_release);
    }
}

void World::leave_if_failed() const {
    if (Rank const failed = failed_rank_.load(std::memory_order_acquire); failed >= 0) {
        throw PeerFailed(fmt::format("rank {} failed, this rank leaves", failed));
    }
}

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

namespace {

std::int64_t reduce_over_ranks(std::int64_t a, std::int64_t b, Fold fold) {
    switch (fold) {
    case Fold::sum:
        return a + b;
    case Fold::max:
        return std::max(a, b);
    case Fold::min:
        break;
    }
    return std::min(a, b);
}

}  // namespace

InProcessBootstrap::InProcessBootstrap(World& world, Rank rank)
    : world_(world), rank_(rank),
      host_(world.ranks_per_node() < world.ranks() ? fmt::format("{}#{}", world.host(), rank / world.ranks_per_node())
                                                   : world.host()) {}

int InProcessBootstrap::local_rank() const {
    return rank_ % world_.ranks_per_node();
}

int InProcessBootstrap::local_size() const {
    return std::min(world_.ranks_per_node(), world_.ranks() - (rank_ - local_rank()));
}

std::map<std::string, std::string, std::less<>> InProcessBootstrap::facts() const {
    return {{"ranks_are", "threads of one process"}};
}

std::int64_t InProcessBootstrap::barrier_max(std::int64_t mine) {
    world_.leave_if_failed();
    ++barriers_;
    BarrierFlags& flags = world_.flags();
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

std::vector<Letter> InProcessBootstrap::exchange(std::vector<Letter> outgoing) {
    for (Letter const& letter : outgoing) {
        check_rank(letter.peer, "exchange", "destination");
    }
    std::vector<Letter> incoming;
    Contribution shown{.call = "exchange"};
    shown.letters = std::move(outgoing);
    meet(std::move(shown), [&] {
        for (Rank peer = 0; peer < size(); ++peer) {
            for (Letter const& letter : world_.contribution(peer).letters) {
                if (letter.peer == rank_) {
                    incoming.push_back({peer, letter.blob});
                }
            }
        }
    });
    return incoming;
}

void InProcessBootstrap::all_reduce(std::span<std::int64_t> values, Fold fold) {
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
                values[i] = peer == 0 ? other[i] : reduce_over_ranks(values[i], other[i], fold);
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
    world_.inbox(peer).put(rank_, bytes);
}

void InProcessBootstrap::receive(Rank peer, std::span<std::byte> bytes) {
    check_rank(peer, "receive", "source");
    for (;;) {
        world_.leave_if_failed();
        if (std::optional<Blob> const blob = world_.inbox(rank_).take(peer)) {
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

}  // namespace dlmb::in_process
