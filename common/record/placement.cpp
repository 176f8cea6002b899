// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/placement.hpp"

#include "common/record/blob_json.hpp"
#include "common/record/machine.hpp"
#include "common/record/rank_devices.hpp"
#include "common/record/topology.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dlmb::record {
namespace {

using nlohmann::json;
using Facts = std::map<std::string, std::string>;

/// What makes this node the same kind of machine as another.
Facts node_identity(Topology const& topology) {
    return {{"cpu_model", cpu_model()},
            {"sockets", std::to_string(topology.sockets)},
            {"numa_nodes", std::to_string(topology.numa_nodes)},
            {"cores", std::to_string(topology.cores)},
            {"processing_units", std::to_string(topology.processing_units)},
            {"hwloc_synthetic", topology.synthetic}};
}

json describe_device(DeviceUse const& use, std::string const& numa_of_rank) {
    Device const& device = *use.device;
    std::vector<int> const nodes = parse_cpu_list(numa_of_rank);
    bool const elsewhere = device.numa_node >= 0 && !nodes.empty() &&
                           std::find(nodes.begin(), nodes.end(), device.numa_node) == nodes.end();
    return {{"index", device.index},         {"pci_bus_id", device.pci_bus_id},
            {"numa_node", device.numa_node}, {"other_numa_node", elsewhere},
            {"reason", use.reason},          {"model", device_model(device)}};
}

std::optional<RankDevice> device_from(json const& told) {
    if (!told.contains("device")) {
        return std::nullopt;
    }
    json const& device = told.at("device");
    return RankDevice{device.at("index"), device.at("pci_bus_id"), device.at("numa_node"), device.at("other_numa_node"),
                      device.at("reason")};
}

/// One rank's contribution. The first rank of each node also describes the node.
json describe_myself(Bootstrap& bootstrap, DeviceUse const& device) {
    Affinity const affinity = read_affinity();
    json mine{{"host", bootstrap.host()},
              {"cpuset", cpu_list(affinity.units)},
              {"numa", affinity.numa},
              {"units", affinity.units},
              {"cores", cores_of(affinity.units)}};
    if (device.device) {
        mine["device"] = describe_device(device, affinity.numa);
    }
    if (bootstrap.local_rank() == 0) {
        Topology const topology = read_topology();
        mine["node"] = node_identity(topology);
        mine["node_units"] = topology.processing_units;
        mine["largest_cache"] = topology.largest_cache;
        mine["topology_source"] = topology.source;
        NodeConditions const conditions = read_conditions();
        mine["governor"] = conditions.governor;
        mine["load"] = conditions.load;
    }
    return mine;
}

}  // namespace

Placement gather_placement(Bootstrap& bootstrap, DeviceUse const& device) {
    Blob const mine = to_blob(describe_myself(bootstrap, device));
    Placement placement;
    for (Blob const& each : bootstrap.all_gather(mine)) {
        json const told = from_blob(each);
        std::string const host = told.at("host");
        placement.ranks.push_back({static_cast<Rank>(placement.ranks.size()), host, told.at("cpuset"), told.at("numa"),
                                   false, device_from(told)});
        placement.device_models.push_back(told.contains("device") ? told.at("device").at("model") : json(""));
        placement.core_use.push_back({host, false, told.at("units"), told.at("cores")});
        ++placement.ranks_on[host];
        if (told.contains("node")) {
            placement.units[host] = told.at("node_units");
            placement.largest_cache = std::max(placement.largest_cache, told.at("largest_cache").get<Bytes>());
            placement.topology_source = told.at("topology_source");
            placement.nodes[host] = told.at("node").get<Facts>();
            placement.conditions[host] = {told.at("governor"), told.at("load")};
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

std::vector<std::string> node_warnings(Placement const& placement) {
    std::vector<std::string> warnings;
    Facts const& reference = placement.nodes.at(placement.ranks.front().host);
    for (auto const& [host, facts] : placement.nodes) {
        for (auto const& [name, value] : facts) {
            if (auto const expected = reference.at(name); value != expected) {
                warnings.push_back(fmt::format("node {} differs from {}: {} is '{}', not '{}'", host,
                                               placement.ranks.front().host, name, value, expected));
            }
        }
    }
    return warnings;
}

std::vector<std::string> placement_warnings(std::vector<RankPlace> const& ranks,
                                            std::map<std::string, int> const& units) {
    std::vector<std::string> warnings;
    auto const unbound = std::count_if(ranks.begin(), ranks.end(), [](RankPlace const& place) { return !place.bound; });
    if (unbound > 0) {
        warnings.push_back(
            fmt::format("{} of {} ranks are not bound and may migrate between processing units; bind them with "
                        "mpirun --bind-to core or srun --cpu-bind=cores",
                        unbound, ranks.size()));
    }
    std::map<std::string, int> ranks_on;
    for (RankPlace const& place : ranks) {
        ++ranks_on[place.host];
    }
    for (auto const& [host, count] : ranks_on) {
        auto const offered = units.find(host);
        if (offered != units.end() && count > offered->second) {
            warnings.push_back(fmt::format("{} ranks share {} processing units on {}: times include waiting for a turn",
                                           count, offered->second, host));
        }
    }
    return warnings;
}

}  // namespace dlmb::record
