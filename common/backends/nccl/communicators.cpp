// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/communicators.hpp"

#include "common/backend_kit/blobs.hpp"
#include "common/backends/nccl/check.hpp"
#include "common/backends/nccl/iteration.hpp"
#include "common/base/clock.hpp"
#include "common/memory/memory_space.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <numeric>
#include <sched.h>

namespace dlmb::nccl {

/// Per group its size and its members.
Blob pack_groups(std::span<Group const> groups) {
    std::vector<Rank> numbers;
    for (Group const& group : groups) {
        numbers.push_back(static_cast<Rank>(group.members.size()));
        numbers.insert(numbers.end(), group.members.begin(), group.members.end());
    }
    return blob_of(numbers);
}

std::vector<Group> unpack_groups(std::span<Blob const> blobs) {
    std::set<std::vector<Rank>> found;
    for (Blob const& blob : blobs) {
        auto const numbers = values_in<Rank>(blob);
        for (auto next = numbers.begin(); next != numbers.end();) {
            auto const end = next + 1 + *next;
            found.emplace(next + 1, end);
            next = end;
        }
    }
    std::vector<Group> groups;
    for (std::vector<Rank> const& members : found) {
        groups.push_back({members});
    }
    return groups;
}

std::vector<std::vector<Group>> disjoint_batches(std::vector<Group> const& groups) {
    std::vector<std::vector<Group>> batches;
    std::vector<std::set<Rank>> taken;  // by batch
    for (Group const& group : groups) {
        auto const free = [&](std::set<Rank> const& ranks) {
            return std::none_of(group.members.begin(), group.members.end(),
                                [&](Rank member) { return ranks.count(member) > 0; });
        };
        auto const batch = static_cast<std::size_t>(std::find_if(taken.begin(), taken.end(), free) - taken.begin());
        if (batch == taken.size()) {
            taken.emplace_back();
            batches.emplace_back();
        }
        taken[batch].insert(group.members.begin(), group.members.end());
        batches[batch].push_back(group);
    }
    return batches;
}

Calls read_calls(std::string_view asked_for) {
    char const* const value = std::getenv("NCCL_COMM_BLOCKING");
    std::string_view const variable = value == nullptr ? "" : value;
    if (variable != "0" && variable != "1") {
        return asked_for == name_of(Calls::nonblocking) ? Calls::nonblocking : Calls::blocking;
    }
    Calls const obeyed = variable == "0" ? Calls::nonblocking : Calls::blocking;
    if (!asked_for.empty() && asked_for != name_of(obeyed)) {
        throw UsageError(fmt::format("--nccl-comm {}: NCCL obeys NCCL_COMM_BLOCKING={}, which says otherwise; unset it",
                                     asked_for, variable));
    }
    return obeyed;
}

ncclConfig_t configuration(Calls calls) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = calls == Calls::blocking ? 1 : 0;
    return config;
}

/// A non-blocking communicator answers ncclInProgress until it is usable.
void wait_until_ready(Bootstrap& bootstrap, ncclComm_t communicator, char const* call) {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) {
        check(ncclCommGetAsyncError(communicator, &state), "ncclCommGetAsyncError");
        bootstrap.progress();
        sched_yield();
    }
    check(state, call);
}

namespace {

/// Collective over the world: one communicator for each of the groups, which share no rank. This rank's; nullptr where
/// it is in none.
ncclComm_t create_subgroups(Bootstrap& bootstrap, ncclConfig_t config, ncclComm_t world,
                            std::span<Group const> groups) {
    int color = NCCL_SPLIT_NOCOLOR;
    int key = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (auto const place = rank_in(groups[i], bootstrap.rank())) {
            color = static_cast<int>(i);
            key = *place;
        }
    }
    ncclComm_t made = nullptr;
    check(ncclCommSplit(world, color, key, &made, &config), "ncclCommSplit");
    wait_until_ready(bootstrap, world, "ncclCommSplit");
    if (made != nullptr) {
        wait_until_ready(bootstrap, made, "ncclCommSplit");
    }
    return made;
}

}  // namespace

Communicators::~Communicators() {
    // Parents last. Nothing can be done about a failure here.
    std::for_each(all_.rbegin(), all_.rend(), [](ncclComm_t communicator) { ncclCommDestroy(communicator); });
}

void Communicators::prepare(std::span<Group const> groups) {
    if (aborted_) {
        throw Error("nccl: was aborted in this launch and cannot be used again");
    }
    Nanoseconds const start = now_ns();
    if (all_.empty()) {
        create_world();
    }
    for (std::vector<Group> const& batch : disjoint_batches(new_groups(groups))) {
        auto const mine = std::find_if(batch.begin(), batch.end(), [&](Group const& group) {
            return rank_in(group, bootstrap_.rank()).has_value();
        });
        ncclComm_t const made = create_subgroups(bootstrap_, configuration(calls_), world(), batch);
        if (mine != batch.end()) {
            keep(*mine, made);
        }
    }
    init_ns_ += now_ns() - start;
}

void Communicators::connect(std::set<Rank> const& peers) {
    std::vector<Rank> missing;
    std::set_difference(peers.begin(), peers.end(), connected_.begin(), connected_.end(), std::back_inserter(missing));
    if (missing.empty()) {
        return;
    }
    Nanoseconds const start = now_ns();
    DeviceQueue const queue;
    Allocation const bytes = allocate_on_device(2);  // one to send, one that all messages arrive in
    auto* const stream = static_cast<cudaStream_t>(queue.native());
    try {
        check(ncclGroupStart(), "ncclGroupStart");
        for (Rank const peer : missing) {
            check(ncclSend(bytes.data(), 1, ncclUint8, peer, world(), stream), "ncclSend");
            check(ncclRecv(bytes.data() + 1, 1, ncclUint8, peer, world(), stream), "ncclRecv");
        }
        check(ncclGroupEnd(), "ncclGroupEnd");
        wait_until_ready(bootstrap_, world(), "ncclGroupEnd");
        drain(queue);
    } catch (...) {
        abort();  // freeing the bytes would wait for a kernel that waits for a peer
        throw;
    }
    connected_.insert(missing.begin(), missing.end());
    init_ns_ += now_ns() - start;
}

std::string Communicators::connect_signals() {
    if (signals_connected_) {
        return "";
    }
    Nanoseconds const start = now_ns();
    DeviceQueue const queue;
    auto* const stream = static_cast<cudaStream_t>(queue.native());
    try {
        post(OneSidedCall{world(), {{.peer = bootstrap_.rank()}}, {}}, stream);
    } catch (Error const& error) {
        return fmt::format("nccl makes no one-sided calls here: {}", error.what());
    }
    wait_until_ready(bootstrap_, world(), "ncclSignal");
    post(OneSidedCall{world(), {}, {{1, bootstrap_.rank()}}}, stream);
    wait_until_ready(bootstrap_, world(), "ncclWaitSignal");
    drain(queue);
    signals_connected_ = true;
    init_ns_ += now_ns() - start;
    return "";
}

void Communicators::drain(DeviceQueue const& queue) {
    DeviceEvent arrived;
    arrived.record(queue);
    while (!arrived.reached()) {
        throw_if_failed();
        bootstrap_.progress();
        sched_yield();
    }
}

void Communicators::create_world() {
    Group world;
    world.members.resize(static_cast<std::size_t>(bootstrap_.size()));
    std::iota(world.members.begin(), world.members.end(), 0);
    Blob blob;
    if (bootstrap_.rank() == 0) {
        ncclUniqueId id{};
        check(ncclGetUniqueId(&id), "ncclGetUniqueId");
        blob.resize(sizeof id);
        std::memcpy(blob.data(), &id, sizeof id);
    }
    bootstrap_.broadcast(blob, 0);
    ncclUniqueId id{};
    std::memcpy(&id, blob.data(), sizeof id);
    ncclConfig_t config = configuration(calls_);
    ncclComm_t communicator = nullptr;
    check(ncclCommInitRankConfig(&communicator, bootstrap_.size(), id, bootstrap_.rank(), &config),
          "ncclCommInitRankConfig");
    wait_until_ready(bootstrap_, communicator, "ncclCommInitRankConfig");
    keep(world, communicator);
}

/// Over all ranks, in one order. The first member of a group speaks for it; whether it exists all members know alike.
std::vector<Group> Communicators::new_groups(std::span<Group const> mine) {
    std::vector<Group> led;
    std::copy_if(mine.begin(), mine.end(), std::back_inserter(led), [&](Group const& group) {
        return group.members.front() == bootstrap_.rank() && by_members_.count(group.members) == 0;
    });
    return unpack_groups(bootstrap_.all_gather(pack_groups(led)));
}

void Communicators::keep(Group const& group, ncclComm_t communicator) {
    all_.push_back(communicator);
    by_members_[group.members] = communicator;
}

void Communicators::throw_if_failed() {
    for (ncclComm_t const communicator : all_) {
        ncclResult_t state = ncclSuccess;
        check(ncclCommGetAsyncError(communicator, &state), "ncclCommGetAsyncError");
        if (state != ncclSuccess && state != ncclInProgress) {
            abort();  // otherwise freeing memory would wait for the stuck kernel
            check(state, "asynchronous error of a communicator");
        }
    }
}

void Communicators::abort() noexcept {
    aborted_ = true;
    for (ncclComm_t const communicator : all_) {
        ncclCommAbort(communicator);
    }
    all_.clear();
    by_members_.clear();
}

}  // namespace dlmb::nccl
