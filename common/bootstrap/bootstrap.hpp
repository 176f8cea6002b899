// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The control plane: who am I, and small collective calls outside the measured traffic. Every blocking call keeps
// calling the registered progress functions, so that no rank waits here while its transport's worker is needed by a
// peer (a reproduced hang: docs/design.md, "quiesce").
#pragma once

#include "common/base/idle.hpp"
#include "common/base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb {

using Blob = std::vector<std::byte>;

/// A blob for, or from, one world rank.
struct PeerBlob {
    Rank peer = 0;
    Blob blob;
};

enum class Fold { sum, max, min };

/// Keeps a progress function registered. May outlive the bootstrap, and other handles.
class [[nodiscard]] ProgressHandle {
public:
    ProgressHandle() = default;  // of nothing
    ProgressHandle(ProgressHandle const&) = delete;
    ProgressHandle& operator=(ProgressHandle const&) = delete;
    ProgressHandle(ProgressHandle&& other) noexcept : all_(std::move(other.all_)), mine_(other.mine_) {}
    ProgressHandle& operator=(ProgressHandle&& other) noexcept {
        remove();
        all_ = std::move(other.all_);
        mine_ = other.mine_;
        return *this;
    }
    ~ProgressHandle() { remove(); }
    /// The function is not called any more. Not from within a progress function.
    void remove() {
        if (all_) {
            all_->erase(mine_);
            all_ = nullptr;
        }
    }

private:
    friend class Bootstrap;
    using Functions = std::list<std::function<void()>>;
    ProgressHandle(std::shared_ptr<Functions> all, std::function<void()> progress)
        : all_(std::move(all)), mine_(all_->insert(all_->end(), std::move(progress))) {}

    std::shared_ptr<Functions> all_;  // nullptr: of nothing
    Functions::iterator mine_;
};

/// All calls are collective over the world and must be made by all ranks in the same order, unless said otherwise.
class Bootstrap {
public:
    virtual ~Bootstrap() = default;
    [[nodiscard]] virtual std::string_view kind() const = 0;  // "mpi", "in_process"
    [[nodiscard]] virtual Rank rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
    [[nodiscard]] virtual int local_rank() const = 0;  // among the ranks of this node, by world rank
    [[nodiscard]] virtual int local_size() const = 0;
    [[nodiscard]] virtual Rank node_leader() const = 0;  // the rank of this node whose local rank is 0
    [[nodiscard]] virtual std::string const& host() const = 0;

    /// Facts for the record: {"mpi_library", "Open MPI v4.1.4 ..."}.
    [[nodiscard]] virtual std::map<std::string, std::string, std::less<>> facts() const = 0;

    void barrier() { (void)barrier_max(0); }
    /// A barrier that also tells the largest of what ranks brought along. Our own dissemination: the same algorithm
    /// whatever the library, in ceil(log2(size)) rounds.
    [[nodiscard]] virtual std::int64_t barrier_max(std::int64_t mine) = 0;
    [[nodiscard]] virtual std::vector<Blob> all_gather(std::span<std::byte const> mine) = 0;
    /// Sparse personalised exchange. Any rank may send to any ranks; returns what was sent here, sorted by peer.
    [[nodiscard]] virtual std::vector<PeerBlob> exchange(std::vector<PeerBlob> outgoing) = 0;
    /// Element-wise, in place, result on every rank.
    virtual void all_reduce(std::span<std::int64_t> values, Fold fold) = 0;
    /// Root's content on every rank; sizes may differ before the call.
    virtual void broadcast(Blob& blob, Rank root) = 0;

    /// From one rank to another, not collective: `peer` receives from rank() as many bytes. Messages of one sender to
    /// one receiver keep their order. Sending may wait until the peer receives, so two ranks must not send to each
    /// other at once.
    virtual void send(Rank peer, std::span<std::byte const> bytes) = 0;
    virtual void receive(Rank peer, std::span<std::byte> bytes) = 0;
    void send_word(Rank peer, std::int64_t word) { send(peer, std::as_bytes(std::span(&word, 1))); }
    [[nodiscard]] std::int64_t receive_word(Rank peer) {
        std::int64_t word = 0;
        receive(peer, std::as_writable_bytes(std::span(&word, 1)));
        return word;
    }

    /// Called repeatedly while a call above waits, in the order of registration, until the handle is destroyed. Each
    /// backend has its own: none may stand still because another one registered. Not collective.
    ProgressHandle add_progress(std::function<void()> progress) { return {progress_, std::move(progress)}; }

    /// Keeps the library behind this going while this rank waits for something else for long: what its earlier calls
    /// left on its way may be what a peer is waiting for. Not collective.
    virtual void progress() {}

    /// Ends all ranks of the launch with this exit code. Not collective.
    [[noreturn]] virtual void abort(int exit_code) = 0;

protected:
    void make_progress() const {
        for (std::function<void()> const& progress : *progress_) {
            progress();
        }
    }

private:
    std::shared_ptr<ProgressHandle::Functions> progress_ = std::make_shared<ProgressHandle::Functions>();
};

}  // namespace dlmb
