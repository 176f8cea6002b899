// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/adopt_device.hpp"

#include "common/formats/record/json.hpp"
#include "common/measure/environment/machine.hpp"
#include "common/run/cells.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::run {
namespace {

/// Distances of the ranks with this rank's view, and which of them this rank is.
struct Sharers {
    std::vector<std::vector<int>> distances;
    std::size_t mine = 0;
};

Sharers find_sharers(Bootstrap& bootstrap, Devices const& devices, std::vector<int> const& distances) {
    std::string view = std::to_string(bootstrap.node_leader());  // the node, and what of it this rank sees
    for (Device const& device : devices.list) {
        view += ' ' + device.pci_bus_id;
    }
    std::vector<Blob> const told = bootstrap.all_gather(record::to_blob({{"view", view}, {"distances", distances}}));
    Sharers sharers;
    for (std::size_t rank = 0; rank < told.size(); ++rank) {
        auto const each = record::from_blob(told[rank]);
        if (each.at("view") != view) {
            continue;
        }
        if (rank == static_cast<std::size_t>(bootstrap.rank())) {
            sharers.mine = sharers.distances.size();
        }
        sharers.distances.push_back(each.at("distances"));
    }
    return sharers;
}

std::string why(std::size_t device, std::vector<int> const& distances) {
    auto const [nearest, farthest] = std::minmax_element(distances.begin(), distances.end());
    if (distances.size() == 1) {
        return "the only one";
    }
    if (*nearest == *farthest) {
        return "next in order: the rank is as near to all";
    }
    return distances[device] == *nearest ? "nearest to where the rank may run" : "next: the nearest ones are taken";
}

/// Collective.
std::size_t requested_device(Bootstrap& bootstrap, Devices const& devices, std::span<int const> requested) {
    auto const turn = static_cast<std::size_t>(bootstrap.local_rank()) % requested.size();
    auto const index = static_cast<std::size_t>(requested[turn]);
    bool const known = devices.list.empty() || index < devices.list.size();
    require_usable(bootstrap, known
                                  ? ""
                                  : fmt::format("--device: rank {} ({}) sees {} GPUs, so the last index is {}, not {}",
                                                bootstrap.rank(), bootstrap.host(), devices.list.size(),
                                                devices.list.size() - 1, requested[turn]));
    return index;
}

}  // namespace

measure::DeviceUse choose_device(Bootstrap& bootstrap, Devices const& devices, std::vector<int> const& distances,
                                 std::span<int const> requested) {
    measure::DeviceUse use{std::nullopt, "", devices.runtime_version, devices.driver_version};
    if (!requested.empty()) {
        std::size_t const index = requested_device(bootstrap, devices, requested);
        if (!devices.list.empty()) {
            use.device = devices.list[index];
            use.reason = "--device";
        }
        return use;
    }
    Sharers const sharers = find_sharers(bootstrap, devices, distances);
    if (!devices.list.empty()) {
        auto const index = static_cast<std::size_t>(assign_devices(sharers.distances)[sharers.mine]);
        use.device = devices.list[index];
        use.reason = why(index, distances);
    }
    return use;
}

measure::DeviceUse adopt_device(Bootstrap& bootstrap, std::span<int const> requested) {
    Devices const devices = find_devices();
    std::vector<int> distances(devices.list.size());
    if (devices.list.size() > 1) {  // else there is no choice, and reading buses takes time
        distances = measure::device_distances(measure::read_affinity(), devices.list);
    }
    measure::DeviceUse use = choose_device(bootstrap, devices, distances, requested);
    if (use.device) {
        use_device(use.device->index);
    }
    return use;
}

measure::DeviceUse adopt_no_device() {
    Devices const devices = find_devices();
    return {std::nullopt, "", devices.runtime_version, devices.driver_version};
}

}  // namespace dlmb::run
