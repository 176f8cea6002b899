// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The resolution of a launch, measured before its cells: clock, quiet of the processors, barrier, transports and
// devices.
#pragma once

#include "common/base/units.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::record {

/// brief: tens of milliseconds, and nothing that a cell would find warmed up but the connections on which links were
/// tried. full: about two seconds, transports too.
enum class Effort : std::uint8_t { off, brief, full };
[[nodiscard]] constexpr std::string_view name_of(Effort effort) {
    constexpr std::array<std::string_view, 3> names{"off", "short", "full"};
    return names.at(static_cast<std::size_t>(effort));
}

/// now_ns() as a measuring instrument, the worst of all ranks.
struct TimerFloor {
    double cost_ns = 0;          // of one read
    double step_ns = 0;          // smallest difference ever seen between two reads
    double empty_region_ns = 0;  // what the timed region gives for a plan that does nothing
};

/// How long one and the same arithmetic takes again and again on each rank. What is added to the least time was spent
/// elsewhere: other processes, interrupts, a clock that changes (Petrini, Kerbyson, Pakin, SC'03).
struct WorkQuanta {
    double median_ns = 0;                        // of rank 0
    std::vector<double> p99_over_min;            // by rank; 1 is perfectly quiet
    std::vector<Nanoseconds> largest_detour_ns;  // by rank: longest minus shortest
};
/// Above this p99 / min a rank's processor does other things too.
inline constexpr double quiet_p99_over_min = 1.5;

struct BarrierFloor {
    std::uint64_t count = 0;  // barriers that these summarise
    double median_ns = 0;     // one barrier after the other, largest over ranks
    /// Between the first and the last rank that leave, largest over nodes. Ranks of one node read one clock; of
    /// different nodes nothing is said. Absent where no node has two ranks.
    struct ExitSkew {
        double p50_ns = 0;
        double p99_ns = 0;
    };
    std::optional<ExitSkew> exit_skew;
};

/// Every rank sends 8 bytes to the next one and receives 8 from the one before.
struct ExchangeFloor {
    std::string backend;
    std::string memory;
    double median_ns = 0;  // as a cell's
};

/// Between the first ranks of every two nodes, the least of some round trips on each link: what the network takes, not
/// what a busy processor adds.
struct LinkFloor {
    struct Link {
        std::array<Rank, 2> ranks{};
        double ns = 0;
    };
    struct Times {
        double median_ns = 0;    // over links
        std::vector<Link> slow;  // slowest first, at most slow_links_named
    };
    std::uint64_t count = 0;  // of links
    Times round_trips;        // of a word: latency
    Times transfers;          // what a round trip of link_block_bytes takes beyond that: bandwidth
};
inline constexpr Bytes link_block_bytes = Bytes{256} << 10;
/// Above these multiples of the median a link is slow. The latency of paths through more switches stays below the first
/// one; half the bandwidth is above the second one (a network card with half its lanes: from five nodes on, where not
/// half of all links end at its node).
inline constexpr double slow_round_trip_ratio = 2;
inline constexpr double slow_transfer_ratio = 1.6;
inline constexpr std::size_t slow_links_named = 8;

/// The worst of all ranks.
struct DeviceFloor {
    double event_pair_ns = 0;      // between two events with nothing in between, on the device's clock
    double queue_and_wait_ns = 0;  // host time from queueing an event until it is seen to be reached
    double gate_release_ns = 0;    // host time from opening a gate until what waited behind it is done
};

struct Calibration {
    Effort effort = Effort::brief;
    TimerFloor timer;
    WorkQuanta quanta;
    BarrierFloor barrier;
    std::optional<LinkFloor> links = std::nullopt;     // from three nodes on
    std::vector<ExchangeFloor> exchanges = {};         // full only
    std::optional<DeviceFloor> device = std::nullopt;  // where device memory is measured
};

}  // namespace dlmb::record
