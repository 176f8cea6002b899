// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes from one rank to another through shared memory: a ring of slots with one writer and one reader. A message is
// one slot or more; the first says how long it is and what it belongs to. All zero is an empty ring.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dlmb::fake_gpu {

struct Slot {
    static constexpr std::size_t capacity = std::size_t{32} << 10;
    std::uint64_t message_bytes;  // of the whole message, in its first slot
    std::uint64_t tag;            // the operation, in its first slot
    std::uint64_t bytes;          // of this slot
    std::uint64_t connects;       // directions that the sender's group connects with the reader, in its first slot
    std::byte data[capacity];
};

struct Ring {
    static constexpr std::uint64_t slots = 4;
    alignas(64) std::atomic<std::uint64_t> written;  // slots ever filled
    alignas(64) std::atomic<std::uint64_t> read;     // slots ever emptied
    Slot slot[slots];

    [[nodiscard]] Slot* to_write() {
        std::uint64_t const next = written.load(std::memory_order_relaxed);
        return next - read.load(std::memory_order_acquire) == slots ? nullptr : &slot[next % slots];
    }
    void wrote() { written.fetch_add(1, std::memory_order_release); }
    [[nodiscard]] Slot const* to_read() {
        std::uint64_t const next = read.load(std::memory_order_relaxed);
        return next == written.load(std::memory_order_acquire) ? nullptr : &slot[next % slots];
    }
    void did_read() { read.fetch_add(1, std::memory_order_release); }
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "used between processes");

}  // namespace dlmb::fake_gpu
