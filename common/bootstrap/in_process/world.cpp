// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/world.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
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

}  // namespace dlmb::in_process
