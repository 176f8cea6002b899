// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plays the computations of all ranks when communication takes no time: each starts when the rank is free and its input
// is there.
#pragma once

#include "common/base/units.hpp"
#include "patterns/pipeline_p2p/action.hpp"
#include "patterns/pipeline_p2p/layout.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace dlmb::pipeline_p2p {

/// Of one pass through one stage, in any unit. `backward` is the whole pass, backward_input + backward_weight its
/// parts.
struct Durations {
    Nanoseconds forward = 1;
    Nanoseconds backward = 1;
    Nanoseconds backward_input = 1;
    Nanoseconds backward_weight = 1;

    [[nodiscard]] Nanoseconds of(Task const& task) const;
};

class Timeline {
public:
    /// `tasks[r]` in the order of rank r. Throws Error when the orders wait for each other in a circle.
    Timeline(Shape const& shape, std::span<std::vector<Task> const> tasks, Durations const& durations);

    [[nodiscard]] Nanoseconds makespan() const { return makespan_; }
    /// When the k-th task of the rank begins.
    [[nodiscard]] Nanoseconds start(int rank, std::size_t k) const {
        return starts_[static_cast<std::size_t>(rank)][k];
    }
    /// When the output of the work was there.
    [[nodiscard]] Nanoseconds end(Work const& work) const { return ends_[place(work)]; }

private:
    static constexpr Nanoseconds unknown = -1;

    [[nodiscard]] std::size_t place(Work const& work) const;
    [[nodiscard]] Nanoseconds ready(Task const& task) const;
    void play(Task const& task, Nanoseconds end);

    Shape shape_;
    Nanoseconds makespan_ = 0;
    std::vector<std::vector<Nanoseconds>> starts_;
    std::vector<Nanoseconds> ends_;
};

}  // namespace dlmb::pipeline_p2p
