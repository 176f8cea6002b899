// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The choice among made-up devices; no device is touched.
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/run/adopt_device.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::run {
namespace {

using testing::HasSubstr;

/// One made-up device per NUMA node number.
Devices devices_on(std::vector<int> const& numa_nodes, std::string const& bus = "1b") {
    Devices devices;
    devices.runtime_version = "13.0";
    devices.driver_version = "13.0";
    for (int const node : numa_nodes) {
        Device device;
        device.index = static_cast<int>(devices.list.size());
        device.numa_node = node;
        device.pci_bus_id = "0000:" + bus + ":00." + std::to_string(device.index);
        devices.list.push_back(device);
    }
    return devices;
}

/// 0 for a device on that NUMA node, 1 for the others.
std::vector<int> distances_from(int numa_node, Devices const& devices) {
    std::vector<int> distances;
    for (Device const& device : devices.list) {
        distances.push_back(device.numa_node == numa_node ? 0 : 1);
    }
    return distances;
}

/// What each rank chose; `numa_nodes` of the ranks.
std::vector<measure::DeviceUse> chosen(std::vector<int> const& numa_nodes, int ranks_per_node,
                                       std::function<Devices(Rank)> const& devices_of,
                                       std::vector<int> const& requested = {}) {
    std::vector<measure::DeviceUse> uses(numa_nodes.size());
    in_process::run_ranks(static_cast<int>(numa_nodes.size()), ranks_per_node, [&](Bootstrap& bootstrap) {
        auto const rank = static_cast<std::size_t>(bootstrap.rank());
        Devices const devices = devices_of(bootstrap.rank());
        uses[rank] = choose_device(bootstrap, devices, distances_from(numa_nodes[rank], devices), requested);
    });
    return uses;
}

std::vector<int> indices(std::vector<measure::DeviceUse> const& uses) {
    std::vector<int> result;
    for (measure::DeviceUse const& use : uses) {
        result.push_back(use.device ? use.device->index : -1);
    }
    return result;
}

TEST(ChooseDevice, EachNodeAssignsItsOwnDevices) {
    auto const uses = chosen({1, 0, 1, -1}, 2, [](Rank) { return devices_on({0, 1}); });
    EXPECT_EQ(indices(uses), (std::vector<int>{1, 0, 1, 0}));
    EXPECT_EQ(uses[0].reason, "nearest to where the rank may run");
    EXPECT_EQ(uses[3].reason, "next in order: the rank is as near to all");
    EXPECT_EQ(uses[0].runtime_version, "13.0");
}

TEST(ChooseDevice, SaysWhenNoneWasLeftNearTheRankAndWhenThereIsNoChoice) {
    auto const uses = chosen({0, 0}, 0, [](Rank) { return devices_on({0, 1}); });
    EXPECT_EQ(indices(uses), (std::vector<int>{0, 1}));
    EXPECT_EQ(uses[1].reason, "next: the nearest ones are taken");
    EXPECT_EQ(chosen({0}, 0, [](Rank) { return devices_on({-1}); })[0].reason, "the only one");
}

TEST(ChooseDevice, RanksThatTheLauncherGaveDevicesOfTheirOwnUseThem) {
    auto const uses = chosen({-1, -1}, 0, [](Rank rank) { return devices_on({0}, rank == 0 ? "1b" : "9d"); });
    EXPECT_EQ(indices(uses), (std::vector<int>{0, 0}));
    EXPECT_NE(uses[0].device->pci_bus_id, uses[1].device->pci_bus_id);
}

TEST(ChooseDevice, TheOptionIsTakenInTurnByTheRanksOfEachNode) {
    auto const uses = chosen({0, 0, 0, 0}, 2, [](Rank) { return devices_on({0, 0, 1, 1}); }, {3, 1});
    EXPECT_EQ(indices(uses), (std::vector<int>{3, 1, 3, 1}));
    EXPECT_EQ(uses[0].reason, "--device");
}

TEST(ChooseDevice, AnIndexThatIsNotThereIsBadUsageOnAllRanks) {
    std::string const refused = usage_error_of([] {
        (void)chosen({0, 0}, 0, [](Rank) { return devices_on({0, 1}); }, {0, 2});
    });
    EXPECT_THAT(refused, HasSubstr("sees 2 GPUs, so the last index is 1, not 2"));
}

TEST(ChooseDevice, WithoutDevicesThereIsNoChoiceEvenWithTheOption) {
    for (std::vector<int> const& requested : {std::vector<int>{}, std::vector<int>{1}}) {
        auto const uses = chosen(
            {0, 0}, 0,
            [](Rank) {
                return Devices{{}, "no CUDA device", "13.0", "none"};
            },
            requested);
        EXPECT_EQ(indices(uses), (std::vector<int>{-1, -1}));
        EXPECT_EQ(uses[0].reason, "");
        EXPECT_EQ(uses[0].driver_version, "none");
    }
}

}  // namespace
}  // namespace dlmb::run
