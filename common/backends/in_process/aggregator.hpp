// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// An emulated switch that adds up what hosts send (Flare, arXiv 2106.15565): a host sends its Z bytes once and receives
// the Z bytes of the result once, whatever the number of hosts. `single`: one buffer, to which each packet is added as
// it arrives, so that the order of the sum is that of the arrivals. `tree`: a buffer per host, joined pair by pair in
// the order of the places, so that the result has the same bits whoever comes first.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace dlmb::in_process {

enum class Aggregation : std::uint8_t { none, single, tree };

/// Shared by the hosts of one step. No allocation after construction.
class Aggregator {
public:
    Aggregator(Aggregation how, std::size_t hosts, Bytes bytes, Element element, Reduction reduction);

    /// Takes the host's operand. Iterations count from 1, and a host enters the next one when it has received.
    void send(std::size_t place, std::uint64_t iteration, std::byte const* operand);
    /// Whether all operands of the iteration are there.
    [[nodiscard]] bool complete(std::uint64_t iteration) const {
        return joined_[iteration % 2].load(std::memory_order_acquire) == iteration;
    }
    /// After complete().
    void receive(std::size_t place, std::uint64_t iteration, std::byte* result);

    /// Bytes of one host, in all iterations.
    struct MemberTraffic {
        Bytes sent = 0;
        Bytes received = 0;
    };
    [[nodiscard]] MemberTraffic traffic_of(std::size_t place) const { return traffic_.at(place); }

private:
    /// Buffers of every second iteration: a host may send its next operand while others receive.
    struct PartialSums {
        std::vector<std::byte> sums;  // single: one; tree: one per host, the first becomes the result
        std::size_t arrived = 0;
    };

    void add(PartialSums& into, std::byte const* operand);
    void join(PartialSums& into);

    Aggregation how_;
    std::size_t hosts_;
    Bytes bytes_;
    Element element_;
    Reduction reduction_;
    std::mutex mutex_;
    std::array<PartialSums, 2> buffers_;
    std::array<std::atomic<std::uint64_t>, 2> joined_{};  // the last iteration whose result is ready
    std::vector<MemberTraffic> traffic_;                  // written by its host only
};

}  // namespace dlmb::in_process
