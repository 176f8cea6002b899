// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/devices.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

using Indices = std::vector<int>;

/// 0 between what is on one NUMA node, 1 between all else; -1: bound to none, or unknown.
std::vector<Indices> by_numa(Indices const& ranks, Indices const& devices) {
    std::vector<Indices> distances;
    for (int const rank : ranks) {
        Indices& row = distances.emplace_back();
        for (int const device : devices) {
            row.push_back(rank >= 0 && rank == device ? 0 : 1);
        }
    }
    return distances;
}

TEST(AssignDevices, GivesEachRankTheNearestThatIsFree) {
    struct Case {
        char const* what;
        Indices ranks, devices, assigned;
    };
    for (auto const& [what, ranks, devices, assigned] : {
             Case{"each node has as many of both",
                  {0, 0, 0, 0, 1, 1, 1, 1},
                  {0, 0, 0, 0, 1, 1, 1, 1},
                  {0, 1, 2, 3, 4, 5, 6, 7}},
             Case{"ranks dealt to the nodes in turn, as --map-by numa does",
                  {0, 1, 0, 1, 0, 1, 0, 1},
                  {0, 0, 0, 0, 1, 1, 1, 1},
                  {0, 4, 1, 5, 2, 6, 3, 7}},
             Case{"ranks bound to no node take them in order", {-1, -1, -1, -1}, {0, 0, 1, 1}, {0, 1, 2, 3}},
             Case{"so do all where the nodes of devices are unknown", {1, 0, -1}, {-1, -1, -1}, {0, 1, 2}},
             Case{"more ranks than devices take turns and stay near", {0, 1, 0, 1, 1}, {0, 1}, {0, 1, 0, 1, 1}},
             Case{"one device for all", {-1, -1, -1}, {0}, {0, 0, 0}},
             Case{"none has two ranks while another one has none", {0, 0, 0}, {1, 0, 1}, {1, 0, 2}},
             Case{"fewer ranks than devices leave some idle", {1}, {0, 0, 1, 1}, {2}},
             Case{"without devices", {0, 1}, {}, {}},
         }) {
        EXPECT_EQ(assign_devices(by_numa(ranks, devices)), assigned) << what;
    }
}

// Four NUMA nodes of 8 units in two packages, GPUs on the first and third: a rank on the second takes that of its
// package, one on the fourth that of the other.
TEST(AssignDevices, WhereTheRanksOwnNodeHasNoneTheNearestOneIsTaken) {
    EXPECT_EQ(assign_devices({{32, 16}, {16, 32}}), (Indices{1, 0}));
}

}  // namespace
}  // namespace dlmb
