// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/inbox.hpp"

#include "tests/fakes/gpu/device_memory.hpp"
#include "tests/fakes/gpu/settings.hpp"
#include "tests/fakes/gpu/wrong_use.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <sched.h>

namespace dlmb::fake_gpu {
namespace {

constexpr unsigned rounds_between_checks = 1024;
constexpr std::chrono::microseconds pause_when_idle{50};

/// Until it is so; false: the communicator was aborted first.
bool wait_until(Communicator& communicator, int peer, auto const& is_so) {
    for (unsigned rounds = 1; !is_so(); ++rounds) {
        if (communicator.aborted()) {
            return false;
        }
        if (rounds % rounds_between_checks == 0 && communicator.segment.is_gone(peer)) {
            communicator.fail(ncclRemoteError);
        }
        sched_yield();
    }
    return true;
}

}  // namespace

Inbox::Inbox(Communicator& communicator)
    : communicator_(communicator), arriving_(static_cast<std::size_t>(communicator.ranks())),
      signals_(arriving_.size()), taken_(arriving_.size()),
      thread_([this](std::stop_token const& stop) { work(stop); }) {}

bool Inbox::take(AwaitedSignals const& awaited) {
    auto const peer = static_cast<std::size_t>(awaited.peer);
    taken_[peer] += awaited.count;
    return wait_until(communicator_, awaited.peer,
                      [&] { return signals_[peer].load(std::memory_order_acquire) >= taken_[peer]; });
}

void Inbox::work(std::stop_token const& stop) {
    while (!stop.stop_requested()) {
        bool received = false;
        for (int peer = 0; peer < communicator_.ranks(); ++peer) {
            received = receive(peer) || received;
        }
        if (!received) {
            std::this_thread::sleep_for(pause_when_idle);
        }
    }
}

bool Inbox::receive(int peer) {
    Ring& ring = communicator_.segment.put_ring(peer, communicator_.rank);
    Arriving& arriving = arriving_[static_cast<std::size_t>(peer)];
    bool received = false;
    while (Slot const* const slot = ring.to_read()) {
        if (!arriving.started) {
            begin(arriving, *slot, peer);
        }
        if (signals_overtake()) {
            arriving.held.insert(arriving.held.end(), slot->data, slot->data + slot->bytes);
        } else if (slot->bytes > 0) {
            std::memcpy(arriving.to, slot->data, slot->bytes);
        }
        arriving.to += slot->bytes;
        arriving.bytes_left -= slot->bytes;
        if (arriving.bytes_left == 0) {
            arriving.started = false;
            signals_[static_cast<std::size_t>(peer)].fetch_add(1, std::memory_order_release);
        }
        ring.did_read();
        received = true;
    }
    return received;
}

void Inbox::begin(Arriving& arriving, Slot const& first, int peer) {
    if (!arriving.held.empty()) {
        std::memcpy(arriving.held_to, arriving.held.data(), arriving.held.size());
        arriving.held.clear();
    }
    arriving.started = true;
    arriving.bytes_left = first.message_bytes;
    if (first.message_bytes == 0) {
        return;
    }
    WindowMemory const window = communicator_.windows.at(first.tag);
    if (window.data == nullptr || first.connects + first.message_bytes > window.bytes) {
        wrong_use(fmt::format("rank {} puts {} B at {} of a window of rank {}, which has {} B", peer,
                              first.message_bytes, first.connects, communicator_.rank, window.bytes));
    }
    arriving.to = arriving.held_to = view(window.data) + first.connects;
}

bool put(Communicator& communicator, SignalledPut const& put) {
    Ring& ring = communicator.segment.put_ring(communicator.rank, put.peer);
    std::size_t moved = 0;
    do {
        Slot* slot = nullptr;
        if (!wait_until(communicator, put.peer, [&] { return (slot = ring.to_write()) != nullptr; })) {
            return false;
        }
        slot->message_bytes = put.bytes;
        slot->tag = put.window;
        slot->connects = put.offset;
        slot->bytes = std::min(Slot::capacity, put.bytes - moved);
        if (slot->bytes > 0) {
            std::memcpy(slot->data, put.data + moved, slot->bytes);
        }
        moved += slot->bytes;
        ring.wrote();
    } while (moved < put.bytes);
    return wait_until(communicator, put.peer, [&] {
        return ring.read.load(std::memory_order_acquire) == ring.written.load(std::memory_order_relaxed);
    });
}

}  // namespace dlmb::fake_gpu
