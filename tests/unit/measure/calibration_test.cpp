// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The calibration on threads as ranks: every part gives figures that can be true. No time is asserted.
#include "common/measure/calibration/calibration.hpp"
#include "tests/unit/measure/run_world.hpp"
#include "tests/unit/measure/time_units.hpp"

#include <gtest/gtest.h>

#include <array>
#include <mutex>

namespace dlmb::measure {
namespace {

/// What `part` returned on rank 0.
template <class Part>
auto on_ranks(int ranks, int ranks_per_node, Part part) {
    std::mutex mutex;
    decltype(part(std::declval<Bootstrap&>())) result;
    in_process::run_ranks(ranks, ranks_per_node, [&](Bootstrap& bootstrap) {
        auto mine = part(bootstrap);
        std::lock_guard const lock(mutex);
        if (bootstrap.rank() == 0) {
            result = std::move(mine);
        }
    });
    return result;
}

TEST(Calibration, AShortLaunchIsNotMadeLong) {
    CalibrationTimes const brief = calibration_times(record::Effort::brief, 10 * s);
    EXPECT_EQ(brief.quanta_ns + brief.barriers_ns, 80 * ms);
    EXPECT_EQ(brief.exchange_ns, 0);  // a brief one opens no connections of backends
    EXPECT_EQ(brief.link_nodes, 20U);
    CalibrationTimes const hasty = calibration_times(record::Effort::brief, 100 * ms);
    EXPECT_LE(hasty.quanta_ns + hasty.barriers_ns, 1 * ms);
    EXPECT_EQ(hasty.link_nodes, 0U);
    CalibrationTimes const full = calibration_times(record::Effort::full, 10 * s);
    EXPECT_EQ(full.quanta_ns, 1 * s);
    EXPECT_EQ(full.link_nodes, 512U);
    EXPECT_EQ(calibration_times(record::Effort::full, 1 * s).quanta_ns, 250 * ms);  // the watchdog waits no longer
    EXPECT_EQ(calibration_times(record::Effort::off, 10 * s).quanta_ns, 0);
}

TEST(Calibration, TheTimerHasACostAndAStep) {
    record::TimerFloor const timer = on_ranks(2, 0, [](Bootstrap& bootstrap) { return calibrate_timer(bootstrap); });
    EXPECT_GT(timer.cost_ns, 0);
    EXPECT_GT(timer.step_ns, 0);
    EXPECT_GT(timer.empty_region_ns, 0);
}

TEST(Calibration, EveryRankTellsOfItsProcessor) {
    record::WorkQuanta const quanta =
        on_ranks(3, 0, [](Bootstrap& bootstrap) { return calibrate_quanta(bootstrap, 2 * ms); });
    EXPECT_GT(quanta.median_ns, 0);
    ASSERT_EQ(quanta.p99_over_min.size(), 3U);
    ASSERT_EQ(quanta.largest_detour_ns.size(), 3U);
    for (double const spread : quanta.p99_over_min) {
        EXPECT_GE(spread, 1);
    }
}

TEST(Calibration, ExitSkewIsKnownWhereRanksShareAClock) {
    auto const barrier = [](Bootstrap& bootstrap) { return calibrate_barrier(bootstrap, 2 * ms); };
    for (int const ranks_per_node : {0, 2}) {  // one node of four ranks, two nodes of two
        record::BarrierFloor const shared = on_ranks(4, ranks_per_node, barrier);
        EXPECT_GE(shared.count, 5U);
        EXPECT_GT(shared.median_ns, 0);
        ASSERT_TRUE(shared.exit_skew.has_value()) << ranks_per_node;
        EXPECT_GE(shared.exit_skew->p99_ns, shared.exit_skew->p50_ns);
        EXPECT_GE(shared.exit_skew->p50_ns, 0);
        EXPECT_LT(shared.exit_skew->p50_ns, 3600e9);  // a difference of two readings, not a reading
    }
    EXPECT_FALSE(on_ranks(2, 1, barrier).exit_skew.has_value());  // one rank on each node
    EXPECT_FALSE(on_ranks(1, 0, barrier).exit_skew.has_value());
}

TEST(Calibration, ABackendIsAskedForItsShortestMessage) {
    for (int const ranks : {1, 2, 3}) {
        auto const floors = on_ranks(ranks, 0, [](Bootstrap& bootstrap) {
            std::string why_not;
            auto const memory = make_memory_space(MemoryKind::host, why_not);
            MadeBackend const made = in_process::make_backend({bootstrap});
            std::array<Backend*, 1> const backends{made.value().get()};
            Watchdog watchdog([](HangReport const&) {});
            return calibrate_exchange(bootstrap, *memory, backends, 5 * ms, watchdog);
        });
        if (ranks == 1) {
            EXPECT_TRUE(floors.empty());
            continue;
        }
        ASSERT_EQ(floors.size(), 1U);
        EXPECT_EQ(floors[0].backend, "in_process");
        EXPECT_EQ(floors[0].memory, "host");
        EXPECT_GT(floors[0].median_ns, 0);
    }
}

TEST(Calibration, EveryTwoNodesTryTheirLinkOnce) {
    auto const links = [](Bootstrap& bootstrap) {
        Watchdog watchdog([](HangReport const&) {});
        return calibrate_links(bootstrap, 7, watchdog);
    };
    for (int const nodes : {3, 4, 7}) {
        constexpr int ranks_per_node = 2;
        std::optional<record::LinkFloor> const floor = on_ranks(nodes * ranks_per_node, ranks_per_node, links);
        ASSERT_TRUE(floor.has_value()) << nodes;
        EXPECT_EQ(floor->count, static_cast<std::uint64_t>(nodes * (nodes - 1) / 2));
        EXPECT_GT(floor->round_trips.median_ns, 0);
        EXPECT_GE(floor->transfers.median_ns, 0);
    }
    EXPECT_FALSE(on_ranks(2, 1, links).has_value());  // one link: nothing to compare it with
    EXPECT_FALSE(on_ranks(8, 1, links).has_value());  // more nodes than asked for
}

TEST(Calibration, LinksAboveAMultipleOfTheMedianAreNamedSlowestFirst) {
    std::array<Rank, 4> const leaders{0, 2, 4, 6};
    // Nodes 0 to 3, the upper triangle by rows.
    std::array<Nanoseconds, 16> const ns{0, 10, 10, 30, 0, 0, 10, 20, 0, 0, 0, 90, 0, 0, 0, 0};
    record::LinkFloor::Times const twice = link_times(leaders, ns, 2);
    EXPECT_EQ(twice.median_ns, 15);
    ASSERT_EQ(twice.slow.size(), 1U);  // exactly twice is not above it
    EXPECT_EQ(twice.slow[0].ranks, (std::array<Rank, 2>{4, 6}));
    EXPECT_EQ(twice.slow[0].ns, 90);
    record::LinkFloor::Times const more = link_times(leaders, ns, 1.6);
    ASSERT_EQ(more.slow.size(), 2U);
    EXPECT_EQ(more.slow[1].ranks, (std::array<Rank, 2>{0, 6}));
    EXPECT_TRUE(link_times(leaders, std::array<Nanoseconds, 16>{0, 0, 0, 5}, 2).slow.empty()) << "busy ranks, no link";
}

TEST(Calibration, ANodeThatIsSlowToAllIsNamedByItsLinks) {
    std::array<Rank, 5> const leaders{0, 1, 2, 3, 4};
    // Node 1 has half the bandwidth.
    std::array<Nanoseconds, 25> const ns{0, 20, 10, 10, 10, 0, 0, 20, 20, 20, 0, 0, 0, 10, 10, 0, 0, 0, 0, 10};
    record::LinkFloor::Times const times = link_times(leaders, ns, record::slow_transfer_ratio);
    EXPECT_EQ(times.median_ns, 10);
    ASSERT_EQ(times.slow.size(), 4U);
    for (record::LinkFloor::Link const& link : times.slow) {
        EXPECT_TRUE(link.ranks[0] == 1 || link.ranks[1] == 1);
    }
}

}  // namespace
}  // namespace dlmb::measure
