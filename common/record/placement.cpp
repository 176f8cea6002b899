// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/placement.hpp"

#include "common/record/json.hpp"
#include "common/record/topology.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace dlmb::record {

/// What the first rank of each node tells of it.
struct NodeDescription {
    std::map<std::string, std::string> identity;
    int units = 0;
    Bytes largest_cache = 0;
    std::string topology_source;
    NodeConditions conditions;
};

/// What each rank tells the others.
struct RankDescription {
    std::string host;
    std::string cpuset;
    std::string numa;
    std::vector<int> units;
    std::vector<int> cores;
    std::optional<RankDevice> device;
    std::string device_model;
    std::optional<NodeDescription> node;
};

void fields(auto& io, Of<NodeDescription> auto& node) {
    io("identity", node.identity);
    io("units", node.units);
    io("largest_cache", node.largest_cache);
    io("topology_source", node.topology_source);
    io("governor", node.conditions.governor);
    io("load", node.conditions.load);
}

void fields(auto& io, Of<RankDescription> auto& rank) {
    io("host", rank.host);
    io("cpuset", rank.cpuset);
    io("numa", rank.numa);
    io("units", rank.units);
    io("cores", rank.cores);
    io("device", rank.device);
    io("device_model", rank.device_model);
    io("node", rank.node);
}

namespace {

NodeDescription describe_node() {
    Topology const topology = read_topology();
    return {{{"cpu_model", cpu_model()},
             {"sockets", std::to_string(topology.sockets)},
             {"numa_nodes", std::to_string(topology.numa_nodes)},
             {"cores", std::to_string(topology.cores)},
             {"processing_units", std::to_string(topology.processing_units)},
             {"hwloc_synthetic", topology.synthetic}},
            topology.processing_units,
            topology.largest_cache,
            topology.source,
            read_conditions()};
}

RankDevice describe_device(DeviceUse const& use, std::string const& numa_of_rank) {
    Device const& device = *use.device;
    std::vector<int> const nodes = parse_cpu_list(numa_of_rank);
    bool const elsewhere = device.numa_node >= 0 && !nodes.empty() &&
                           std::find(nodes.begin(), nodes.end(), device.numa_node) == nodes.end();
    return {device.index, device.pci_bus_id, device.numa_node, elsewhere, use.reason};
}

RankDescription describe_this_rank(Bootstrap& bootstrap, DeviceUse const& use) {
    Affinity const affinity = read_affinity();
    RankDescription mine;
    mine.host = bootstrap.host();
    mine.cpuset = cpu_list(affinity.units);
    mine.numa = affinity.numa;
    mine.units = affinity.units;
    mine.cores = cores_of(affinity.units);
    if (use.device) {
        mine.device = describe_device(use, affinity.numa);
        mine.device_model = device_model(*use.device);
    }
    if (bootstrap.local_rank() == 0) {
        mine.node = describe_node();
    }
    return mine;
}

/// "8", or "3..4" where nodes differ.
std::string range_text(std::vector<std::size_t> const& counts) {
    auto const [least, most] = std::minmax_element(counts.begin(), counts.end());
    return *least == *most ? std::to_string(*most) : fmt::format("{}..{}", *least, *most);
}

}  // namespace

Placement gather_placement(Bootstrap& bootstrap, DeviceUse const& device) {
    Blob const mine = to_blob(write_value(describe_this_rank(bootstrap, device), "rank"));
    Placement placement;
    for (Blob const& each : bootstrap.all_gather(mine)) {
        RankDescription told;
        read_value(from_blob(each), told, "rank");
        placement.ranks.push_back(
            {static_cast<Rank>(placement.ranks.size()), told.host, told.cpuset, told.numa, false, told.device});
        placement.device_models.push_back(told.device_model);
        placement.core_use.push_back({told.host, false, told.units, told.cores});
        ++placement.ranks_on[told.host];
        if (told.node) {
            placement.units[told.host] = told.node->units;
            placement.largest_cache = std::max(placement.largest_cache, told.node->largest_cache);
            placement.topology_source = told.node->topology_source;
            placement.nodes[told.host] = told.node->identity;
            placement.conditions[told.host] = told.node->conditions;
        }
    }
    for (std::size_t rank = 0; rank < placement.ranks.size(); ++rank) {
        CoreUse& use = placement.core_use[rank];
        auto const offered = static_cast<std::size_t>(std::max(placement.units[use.host], 0));
        use.bound = use.units.size() < offered || offered == 1;
        placement.ranks[rank].bound = use.bound;
    }
    return placement;
}

std::string device_model(Device const& device) {
    return fmt::format("{}, compute capability {}, {} B", device.name, device.compute_capability, device.memory);
}

std::string gpus_in_use(std::vector<RankPlace> const& ranks, std::vector<std::string> const& model_of_rank) {
    std::map<std::string, std::map<std::string, std::set<std::string>>> buses_of;  // by model, then by host
    for (RankPlace const& place : ranks) {
        if (place.device) {
            buses_of[model_of_rank[static_cast<std::size_t>(place.rank)]][place.host].insert(place.device->pci_bus_id);
        }
    }
    std::string text;
    for (auto const& [model, hosts] : buses_of) {
        std::vector<std::size_t> counts;
        for (auto const& [host, buses] : hosts) {
            counts.push_back(buses.size());
        }
        text += fmt::format("{}{}, {} per node", text.empty() ? "" : "; ", model, range_text(counts));
    }
    return text;
}

}  // namespace dlmb::record
