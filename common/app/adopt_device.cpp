// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/adopt_device.hpp"

#include "common/base/error.hpp"
#include "common/bootstrap/first_reason.hpp"
#include "common/record/blob_json.hpp"
#include "common/record/machine.hpp"

#include <fmt/core.h>

namespace dlmb::app {
namespace {

/// The node, and what of it this rank sees.
std::string view_of(Bootstrap const& bootstrap, Devices const& devices) {
    std::string view = bootstrap.host();
    for (Device const& device : devices.list) {
        view += ' ' + device.pci_bus_id;
    }
    return view;
}

/// NUMA nodes of the ranks with this rank's view, and which of them this rank is.
struct Sharers {
    std::vector<int> numa_nodes;
    std::size_t mine = 0;
};

Sharers find_sharers(Bootstrap& bootstrap, Devices const& devices, int numa_node) {
    std::string const view = view_of(bootstrap, devices);
    std::vector<Blob> const told = bootstrap.all_gather(record::to_blob({{"view", view}, {"numa_node", numa_node}}));
    Sharers sharers;
    for (std::size_t rank = 0; rank < told.size(); ++rank) {
        auto const each = record::from_blob(told[rank]);
        if (each.at("view") != view) {
            continue;
        }
        if (rank == static_cast<std::size_t>(bootstrap.rank())) {
            sharers.mine = sharers.numa_nodes.size();
        }
        sharers.numa_nodes.push_back(each.at("numa_node"));
    }
    return sharers;
}

std::string why(Device const& device, int numa_node) {
    if (numa_node < 0) {
        return "next in order: the rank is bound to no single NUMA node";
    }
    if (device.numa_node < 0) {
        return "next in order: the system does not say which NUMA node it is on";
    }
    return device.numa_node == numa_node
               ? fmt::format("on the rank's NUMA node {}", numa_node)
               : fmt::format("next in order: none left on the rank's NUMA node {}", numa_node);
}

std::size_t nearest(Sharers const& sharers, Devices const& devices) {
    std::vector<int> numa_of_device;
    for (Device const& device : devices.list) {
        numa_of_device.push_back(device.numa_node);
    }
    return static_cast<std::size_t>(assign_devices(sharers.numa_nodes, numa_of_device)[sharers.mine]);
}

/// Collective.
std::size_t requested_device(Bootstrap& bootstrap, Devices const& devices, std::span<int const> requested) {
    auto const turn = static_cast<std::size_t>(bootstrap.local_rank()) % requested.size();
    auto const index = static_cast<std::size_t>(requested[turn]);
    bool const known = devices.list.empty() || index < devices.list.size();
    std::string const problem = first_reason(
        bootstrap,
        known ? ""
              : fmt::format("--device: rank {} ({}) sees {} GPUs, so the last index is {}, not {}", bootstrap.rank(),
                            bootstrap.host(), devices.list.size(), devices.list.size() - 1, requested[turn]));
    if (!problem.empty()) {
        throw UsageError(problem);
    }
    return index;
}

/// -1: this thread may run on several nodes, or the system does not say.
int numa_node_of_rank() {
    std::vector<int> const nodes = record::parse_cpu_list(record::read_affinity().numa);
    return nodes.size() == 1 ? nodes.front() : -1;
}

}  // namespace

record::DeviceUse choose_device(Bootstrap& bootstrap, Devices const& devices, int numa_node,
                                std::span<int const> requested) {
    record::DeviceUse use{std::nullopt, "", devices.runtime_version, devices.driver_version};
    if (!requested.empty()) {
        std::size_t const index = requested_device(bootstrap, devices, requested);
        if (!devices.list.empty()) {
            use.device = devices.list[index];
            use.reason = "--device";
        }
        return use;
    }
    Sharers const sharers = find_sharers(bootstrap, devices, numa_node);
    if (!devices.list.empty()) {
        use.device = devices.list[nearest(sharers, devices)];
        use.reason = why(*use.device, numa_node);
    }
    return use;
}

record::DeviceUse adopt_device(Bootstrap& bootstrap, std::span<int const> requested) {
    record::DeviceUse use = choose_device(bootstrap, find_devices(), numa_node_of_rank(), requested);
    if (use.device) {
        use_device(use.device->index);
    }
    return use;
}

record::DeviceUse adopt_no_device() {
    Devices const devices = find_devices();
    return {std::nullopt, "", devices.runtime_version, devices.driver_version};
}

}  // namespace dlmb::app
