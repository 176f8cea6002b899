// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan as what a thread has to do: slots to post, slots to read and where to, and whether to copy or to reduce. Every
// operation comes down to that; the self block is a slot from a rank to itself. The two ends of a block find each other
// at a Rendezvous while a plan is compiled, and share a Slot while it runs.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/step_match.hpp"
#include "common/backends/in_process/aggregator.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sched.h>
#include <string>
#include <vector>

namespace dlmb::in_process {

/// One block from one thread to another, again in every iteration. The sender posts where its bytes lie, the reader
/// copies them from there and hands the slot back; until then neither the bytes nor the slot may change.
class alignas(64) Slot {
public:
    /// Set while compiling, by the sender only, before any post.
    void hold(std::byte const* data, Bytes bytes) {
        data_ = data;
        bytes_ = bytes;
    }
    /// Instead, for a signal: the sender is the rank that waits for it, and the reader writes there.
    void hold_target(std::byte* target) { target_ = target; }
    [[nodiscard]] std::byte* target() const { return target_; }
    /// Instead: rows that lie apart, or the blocks of an offer, from `data` on.
    void hold_rows(std::vector<Bytes> places) { places_ = std::move(places); }

    void post(std::uint64_t iteration) noexcept { state_.store(at(iteration, posted), std::memory_order_release); }
    [[nodiscard]] bool handed_back(std::uint64_t iteration) const noexcept {
        return state_.load(std::memory_order_acquire) == at(iteration, read);
    }

    /// True: data() may be read until hand_back.
    [[nodiscard]] bool open(std::uint64_t iteration) noexcept {
        std::uint64_t expected = at(iteration, posted);
        return state_.compare_exchange_strong(expected, at(iteration, reading), std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }
    void hand_back(std::uint64_t iteration) noexcept { state_.store(at(iteration, read), std::memory_order_release); }
    [[nodiscard]] std::byte const* data() const { return data_; }
    [[nodiscard]] Bytes bytes() const { return bytes_; }
    [[nodiscard]] std::vector<Bytes> const& places() const { return places_; }

    /// The sender's memory is about to go, perhaps because its rank failed: no reader may open the slot any more, and
    /// one that is reading finishes first.
    void withdraw() noexcept {
        std::uint64_t state = state_.load(std::memory_order_acquire);
        while (state % phases == reading || !state_.compare_exchange_weak(state, 0, std::memory_order_acquire)) {
            sched_yield();
            state = state_.load(std::memory_order_acquire);
        }
    }

private:
    enum SlotPhase : std::uint64_t { posted = 1, reading = 2, read = 3, phases = 4 };
    static constexpr std::uint64_t at(std::uint64_t iteration, SlotPhase phase) { return iteration * phases + phase; }

    std::atomic<std::uint64_t> state_{0};
    std::byte const* data_ = nullptr;
    std::byte* target_ = nullptr;
    Bytes bytes_ = 0;
    std::vector<Bytes> places_;  // of rows; empty: one block
};

/// World ranks, the step they share, and of a window which message, of signals which one between the two ranks.
struct BlockKey {
    StepMatch step;
    Rank from = 0;
    Rank to = 0;
    Bytes message = 0;
    auto operator<=>(BlockKey const&) const = default;  // NOLINT(modernize-use-nullptr): false alarm of clang-tidy 14
};

/// One end's description of a block; both ends must say the same.
struct BlockEnd {
    Bytes bytes = 0;
    std::string operation;  // "allreduce fp32 sum"
    std::string step;       // "step 1 \"dispatch\"": for messages, may differ
};

/// One per compile(), shared by all ranks.
class Rendezvous {
public:
    std::shared_ptr<Slot> sender(BlockKey const& key, BlockEnd end, std::byte const* data);
    std::shared_ptr<Slot> reader(BlockKey const& key, BlockEnd end);

    /// The switch of a step, the same for all who ask. Throws Error where two ranks ask for different ones.
    std::shared_ptr<Aggregator> aggregator(StepMatch const& step, Aggregation how, std::size_t hosts,
                                           Collective const& operation);

    /// When all ranks have registered: throws Error for the first block of `rank` whose two ends do not fit.
    void check(Rank rank) const;

private:
    struct BlockEnds {
        std::shared_ptr<Slot> slot = std::make_shared<Slot>();
        std::optional<BlockEnd> sender;
        std::optional<BlockEnd> reader;
    };
    std::map<BlockKey, BlockEnds> blocks_;
    std::map<StepMatch, std::pair<std::shared_ptr<Aggregator>, std::string>> aggregators_;  // and what it is asked for
    mutable std::mutex mutex_;
};

struct AwaitedSlot {
    std::shared_ptr<Slot> slot;
    std::byte* destination = nullptr;
    std::uint64_t iteration = 0;             // the last one that was read
    std::vector<Bytes> places = {};          // of rows or blocks, behind `destination`; empty: one block
    Bytes row_bytes = 0;                     // of rows
    std::vector<Bytes> block_bytes = {};     // of the blocks of a signal
    std::optional<std::size_t> signal = {};  // of a get
};

/// Arrivals are reduced in the order of the members, so that every rank gets the same bits.
struct Reducing {
    Element element = Element::fp32;
    Reduction reduction = Reduction::sum;
    std::byte* result = nullptr;
    std::vector<std::byte> scratch;  // holds the result until all have read, when send and receive memory overlap
};

/// A host's place at an emulated switch.
struct Port {
    std::shared_ptr<Aggregator> aggregator;
    std::size_t place = 0;
    std::byte const* operand = nullptr;
    std::byte* result = nullptr;
    bool received = false;  // in this iteration
};

/// One signal of a Put. Its slot is open from the beginning of the peer's iteration, and handing it back is the flag.
struct Departure {
    struct Write {
        std::byte const* from = nullptr;
        Bytes to = 0;  // in the peer's buffer
        Bytes bytes = 0;
    };
    std::shared_ptr<Slot> slot;
    std::vector<Write> writes;
    std::uint64_t iteration = 0;  // the last one that was written
};

/// One step.
struct Work {
    std::vector<std::shared_ptr<Slot>> outgoing;
    std::vector<AwaitedSlot> arrivals;
    std::optional<Reducing> reduce;
    std::optional<Port> port;
    std::optional<HostCompute> compute;
    std::vector<Departure> departures;            // of a Put
    std::vector<std::shared_ptr<Slot>> expected;  // of a WaitSignal
    std::size_t departed = 0;                     // of this iteration
    std::size_t seen = 0;                         // of this iteration: expected signals, in order
    std::size_t read = 0;                         // of this iteration: arrivals that are done
    std::size_t handed_back = 0;                  // of this iteration: outgoing slots that came back
};

/// By step. Registers this rank's ends of all blocks at `rendezvous`. Throws Error for places outside the buffers.
/// `aggregation`: how allreduces are done.
[[nodiscard]] std::vector<Work> make_schedule(Plan const& plan, Buffers const& buffers, Rendezvous& rendezvous,
                                              Aggregation aggregation);

}  // namespace dlmb::in_process
