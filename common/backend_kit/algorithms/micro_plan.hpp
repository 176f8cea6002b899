// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What one rank does in one collective, as messages and local work on memory: a plain value like a plan, one level
// below it. No library, no address, no clock: all ranks of an algorithm can be played in one test.
#pragma once

#include "common/base/units.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace dlmb::algorithms {

/// The buffers of a collective on one rank: what it contributes, what it gets, and memory of the algorithm's own.
enum class Space : std::uint8_t { input, output, scratch };

struct Area {
    Space space = Space::input;
    Bytes offset = 0;
    bool operator==(Area const&) const = default;
};

enum class Action : std::uint8_t { send, receive, copy, reduce };

/// send: `left` to `peer`. receive: into `to` from `peer`. copy: to = left. reduce: to = left (reduction) right by
/// elements, where `to` may be one of the two. The k-th send from a to b and the k-th receive on b from a are one
/// message; sends to one peer start in order, and so do receives from one peer.
struct MicroStep {
    Action action = Action::copy;
    int peer = -1;  // place in the group
    Area to;
    Area left;
    Area right;
    Bytes bytes = 0;                   // never 0
    std::vector<std::uint32_t> after;  // earlier micro-steps that are complete before this one starts
};

struct MicroPlan {
    std::vector<MicroStep> steps;
    Bytes scratch_bytes = 0;
};

/// Which earlier micro-steps one must wait for: the writers of what it reads, and the readers and writers of what it
/// overwrites. An algorithm is thus written as a plain sequence, and all that is independent in it runs side by side.
class DataFlow {
public:
    /// Adds to `waits` what the access of `step` must wait for. Steps come in order; a step reads before it writes.
    void read(std::uint32_t step, Area area, Bytes bytes, std::vector<std::uint32_t>& waits);
    void write(std::uint32_t step, Area area, Bytes bytes, std::vector<std::uint32_t>& waits);

private:
    /// Bytes from its key in the map up to the next key.
    struct Stretch {
        std::optional<std::uint32_t> writer;
        std::vector<std::uint32_t> readers;  // since the writer
    };
    using Stretches = std::map<Bytes, Stretch>;

    static Stretches::iterator cut(Stretches& stretches, Bytes at);

    std::array<Stretches, 3> spaces_{{{{0, {}}}, {{0, {}}}, {{0, {}}}}};  // by Space
};

/// Writes a MicroPlan. Steps are added in an order in which one after the other would be right; what each waits for is
/// found from the memory it touches. Empty steps are left out.
class MicroPlanner {
public:
    void send(int peer, Area from, Bytes bytes);
    void receive(int peer, Area to, Bytes bytes);
    void copy(Area to, Area from, Bytes bytes);  // nothing when both are the same area
    void reduce(Area to, Area left, Area right, Bytes bytes);

    /// Fresh memory.
    [[nodiscard]] Area scratch(Bytes bytes);

    [[nodiscard]] MicroPlan finish() && { return std::move(plan_); }

private:
    void add(MicroStep step);

    MicroPlan plan_;
    DataFlow flow_;
};

/// `bytes` further on in the same space.
[[nodiscard]] constexpr Area operator+(Area area, Bytes bytes) {
    return {area.space, area.offset + bytes};
}

}  // namespace dlmb::algorithms
