// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One NCCL communicator per group of ranks, made once and kept: initialisation costs seconds at scale. The world's
// comes first, from an id that rank 0 hands out; the others are split from it.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/formats/plan/group_index.hpp"
#include "common/memory/device_queue.hpp"

#include <nccl.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::nccl {

[[nodiscard]] Blob pack_groups(std::span<Group const> groups);
/// Groups of all ranks together, sorted, each once.
[[nodiscard]] std::vector<Group> unpack_groups(std::span<Blob const> blobs);

/// Groups of one batch share no rank. The same on all ranks for the same list.
[[nodiscard]] std::vector<std::vector<Group>> disjoint_batches(std::vector<Group> const& groups);

/// Whether a call returns when its work is in the stream, as PyTorch and nccl-tests have it, or at once: NCCL then
/// hands groups of calls to a thread of its own, which costs an exchange some 50 us.
enum class Calls { blocking, nonblocking };
[[nodiscard]] constexpr std::string_view name_of(Calls calls) {
    return calls == Calls::blocking ? "blocking" : "nonblocking";
}
/// As asked for ("" or a name), else as NCCL_COMM_BLOCKING says, else blocking. NCCL lets the variable win over what a
/// program says: throws UsageError where the two differ.
[[nodiscard]] Calls read_calls(std::string_view asked_for);
[[nodiscard]] ncclConfig_t configuration(Calls calls);

void wait_until_ready(Bootstrap& bootstrap, ncclComm_t communicator, char const* call);

class Communicators {
public:
    Communicators(Bootstrap& bootstrap, Calls calls) : bootstrap_(bootstrap), calls_(calls) {}
    Communicators(Communicators const&) = delete;
    Communicators& operator=(Communicators const&) = delete;
    ~Communicators();

    /// Collective over the world, also for ranks whose groups exist already. Throws Error when NCCL cannot connect, and
    /// after an abort.
    void prepare(std::span<Group const> groups);
    /// Collective over each pair: a rank is among the `peers` of its peers. Connects the world's ranks for messages,
    /// both directions at once. NCCL connects what a group names first, and both ends must name the same then: where
    /// one names one direction and the other both, it fails with "Message truncated" (2.28.9). Throws Error.
    void connect(std::set<Rank> const& peers);
    /// Collective over the world, behind the registration of a window. The first one-sided call of a communicator sets
    /// up all of its ranks and waits for them (until NCCL 2.31; later the first window does), so that all make one: a
    /// signal to oneself. Why NCCL makes no such calls here; empty: it does. Throws Error.
    [[nodiscard]] std::string connect_signals();
    [[nodiscard]] ncclComm_t world() const { return all_.front(); }
    [[nodiscard]] ncclComm_t of(Group const& group) const { return by_members_.at(group.members); }

    /// Throws Error, and aborts all, when one has failed.
    void throw_if_failed();
    /// Frees kernels that wait for a peer that will not come. None may be used again.
    void abort() noexcept;
    [[nodiscard]] bool aborted() const { return aborted_; }

    [[nodiscard]] Calls calls() const { return calls_; }
    /// Time spent in prepare(), all calls together.
    [[nodiscard]] Nanoseconds init_ns() const { return init_ns_; }

private:
    void create_world();
    /// Returns when the device has done all of the queue. Throws Error.
    void drain(DeviceQueue const& queue);
    [[nodiscard]] std::vector<Group> new_groups(std::span<Group const> mine);
    void keep(Group const& group, ncclComm_t communicator);

    Bootstrap& bootstrap_;
    Calls calls_;
    std::vector<ncclComm_t> all_;  // in the order of creation, the world's first
    std::map<std::vector<Rank>, ncclComm_t> by_members_;
    std::set<Rank> connected_;  // of the world, for messages
    bool signals_connected_ = false;
    bool aborted_ = false;
    Nanoseconds init_ns_ = 0;
};

}  // namespace dlmb::nccl
