// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan as what a thread has to do: slots to post, slots to read and where to, and whether to copy or to reduce. Every
// operation comes down to that; the self block is a slot from a rank to itself.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backend_kit/host_compute.hpp"
#include "common/backends/in_process/rendezvous.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace dlmb::in_process {

struct Arrival {
    std::shared_ptr<Slot> slot;
    std::byte* destination = nullptr;
    std::uint64_t iteration = 0;  // the last one that was read
};

/// Arrivals are reduced in the order of the members, so that every rank gets the same bits.
struct Reducing {
    Element element = Element::fp32;
    Reduction reduction = Reduction::sum;
    std::byte* result = nullptr;
    std::vector<std::byte> scratch;  // holds the result until all have read, when send and receive memory overlap
};

/// One step.
struct Work {
    std::vector<std::shared_ptr<Slot>> outgoing;
    std::vector<Arrival> arrivals;
    std::optional<Reducing> reduce;
    std::optional<HostCompute> compute;
    std::size_t read = 0;         // of this iteration: arrivals that are done
    std::size_t handed_back = 0;  // of this iteration: outgoing slots that came back
};

/// By step. Registers this rank's ends of all blocks at `rendezvous`. Throws Error for places outside the buffers.
[[nodiscard]] std::vector<Work> make_schedule(Plan const& plan, Buffers const& buffers, Rendezvous& rendezvous);

}  // namespace dlmb::in_process
