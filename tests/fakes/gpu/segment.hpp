// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The shared memory of one communicator.
#pragma once

#include "tests/fakes/gpu/ring.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace dlmb::fake_gpu {

/// Two numbers that a rank tells all others while something is set up.
using Given = std::array<std::uint64_t, 2>;

struct Member {
    std::atomic<int> process;          // 0: not here yet
    std::atomic<bool> gone;            // aborted
    std::atomic<std::uint64_t> calls;  // phases of set-ups that this rank has come to
    std::array<std::atomic<std::uint64_t>, 2> given;
};

class Segment {
public:
    static constexpr int most_ranks = 64;

    /// Opens or makes it. Ends the process when that fails or `rank` was taken.
    Segment(std::string name, int ranks, int rank);
    Segment(Segment const&) = delete;
    Segment& operator=(Segment const&) = delete;
    ~Segment();

    [[nodiscard]] Member& member(int rank) const;
    [[nodiscard]] Ring& ring(int from, int to) const;
    /// Of puts and signals.
    [[nodiscard]] Ring& put_ring(int from, int to) const;
    [[nodiscard]] std::string const& name() const { return name_; }
    [[nodiscard]] int ranks() const { return ranks_; }
    /// Every rank has come to phase `calls`.
    [[nodiscard]] bool all_came_to(std::uint64_t calls) const;
    /// The rank aborted, or its process ended.
    [[nodiscard]] bool is_gone(int rank) const;
    /// The memory stays until the last process that mapped it ends.
    void remove_name() const;

private:
    std::string name_;
    int ranks_;
    std::size_t bytes_;
    std::byte* data_;
};

/// A name for a new segment. Segments that killed processes left behind are removed.
[[nodiscard]] std::string new_segment_name();

}  // namespace dlmb::fake_gpu
