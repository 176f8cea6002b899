// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/placement.hpp"

#include "common/record/json.hpp"
#include "common/record/machine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace dlmb::record {

void fields(auto& io, json::Of<NodeFacts> auto& node) {
    io("identity", node.identity);
    io("units", node.units);
    io("largest_cache", node.largest_cache);
    io("topology_source", node.topology_source);
    io("governor", node.governor);
    io("load", node.load);
}

void fields(auto& io, json::Of<RankFacts> auto& rank) {
    io("place", rank.place);
    io("units", rank.units);
    io("cores", rank.cores);
    io("device_model", rank.device_model);
    io("node", rank.node);
}

namespace {

NodeFacts describe_node() {
    Topology const topology = read_topology();
    NodeConditions const conditions = read_conditions();
    return {{{"cpu_model", cpu_model()},
             {"sockets", std::to_string(topology.sockets)},
             {"numa_nodes", std::to_string(topology.numa_nodes)},
             {"cores", std::to_string(topology.cores)},
             {"processing_units", std::to_string(topology.processing_units)},
             {"hwloc_synthetic", topology.synthetic}},
            topology.processing_units,
            topology.largest_cache,
            topology.source,
            conditions.governor,
            conditions.load};
}

RankDevice describe_device(DeviceUse const& use, std::string const& numa_of_rank) {
    Device const& device = *use.device;
    std::vector<int> const nodes = parse_cpu_list(numa_of_rank);
    bool const elsewhere = device.numa_node >= 0 && !nodes.empty() &&
                           std::find(nodes.begin(), nodes.end(), device.numa_node) == nodes.end();
    return {device.index, device.pci_bus_id, device.numa_node, elsewhere, use.reason};
}

RankFacts describe_this_rank(Bootstrap& bootstrap, DeviceUse const& use) {
    Affinity const affinity = read_affinity();
    RankFacts mine;
    mine.place = {bootstrap.rank(), bootstrap.host(), cpu_list(affinity.units), affinity.numa};
    mine.units = affinity.units;
    mine.cores = cores_of(affinity.units);
    if (use.device) {
        mine.place.device = describe_device(use, affinity.numa);
        mine.device_model = fmt::format("{}, compute capability {}, {} B", use.device->name,
                                        use.device->compute_capability, use.device->memory);
    }
    if (bootstrap.local_rank() == 0) {
        mine.node = describe_node();
    }
    return mine;
}

}  // namespace

Placement gather_placement(Bootstrap& bootstrap, DeviceUse const& device) {
    Placement placement;
    for (Blob const& each : bootstrap.all_gather(to_blob(write_value(describe_this_rank(bootstrap, device), "rank")))) {
        RankFacts& rank = placement.ranks.emplace_back();
        read_value(from_blob(each), rank, "rank");
        if (rank.node) {
            placement.nodes[rank.place.host] = *rank.node;
        }
    }
    for (RankFacts& rank : placement.ranks) {
        NodeFacts& node = placement.nodes[rank.place.host];
        ++node.ranks;
        auto const offered = static_cast<std::size_t>(std::max(node.units, 0));
        rank.place.bound = rank.units.size() < offered || offered == 1;
    }
    return placement;
}

std::string gpus_in_use(std::vector<RankFacts> const& ranks) {
    std::map<std::string, std::map<std::string, std::set<std::string>>> buses_of;  // by model, then by host
    for (RankFacts const& rank : ranks) {
        if (rank.place.device) {
            buses_of[rank.device_model][rank.place.host].insert(rank.place.device->pci_bus_id);
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

std::string range_text(std::vector<std::size_t> const& counts) {
    auto const [least, most] = std::minmax_element(counts.begin(), counts.end());
    return *least == *most ? std::to_string(*most) : fmt::format("{}..{}", *least, *most);
}

std::vector<std::string> placement_warnings(Placement const& placement) {
    std::vector<std::string> warnings;
    auto const unbound = std::count_if(placement.ranks.begin(), placement.ranks.end(),
                                       [](RankFacts const& rank) { return !rank.place.bound; });
    if (unbound > 0) {
        warnings.push_back(
            fmt::format("{} of {} ranks are not bound and may migrate between processing units; bind them with "
                        "mpirun --bind-to core or srun --cpu-bind=cores",
                        unbound, placement.ranks.size()));
    }
    for (auto const& [host, node] : placement.nodes) {
        if (node.ranks > node.units) {
            warnings.push_back(fmt::format("{} ranks share {} processing units on {}: times include waiting for a turn",
                                           node.ranks, node.units, host));
        }
    }
    for (auto const& [host, node] : placement.nodes) {
        std::map<int, std::set<std::vector<int>>> users;  // by core: the sets of units of the ranks on it
        for (RankFacts const& rank : placement.ranks) {
            for (int const core : rank.place.bound&& rank.place.host == host ? rank.cores : std::vector<int>{}) {
                users[core].insert(rank.units);
            }
        }
        auto const shared =
            std::count_if(users.begin(), users.end(), [](auto const& core) { return core.second.size() > 1; });
        if (shared > 0) {
            warnings.push_back(
                fmt::format("on {} ranks share {} cores as their hardware threads: each slows the other; "
                            "give each a core with mpirun --bind-to core or srun --cpu-bind=cores",
                            host, shared));
        }
    }
    std::string const& first = placement.ranks.front().place.host;
    for (auto const& [host, node] : placement.nodes) {
        for (auto const& [name, value] : node.identity) {
            if (auto const expected = placement.nodes.at(first).identity.at(name); value != expected) {
                warnings.push_back(
                    fmt::format("node {} differs from {}: {} is '{}', not '{}'", host, first, name, value, expected));
            }
        }
    }
    for (auto const& [host, node] : placement.nodes) {
        if (!node.governor.empty() && node.governor != "performance") {
            warnings.push_back(fmt::format("the frequency governor of {} is '{}': times follow the clock; set it with "
                                           "cpupower frequency-set -g performance",
                                           host, node.governor));
        }
        if (node.load > node.ranks) {
            warnings.push_back(fmt::format("{} had a load of {:.1f} before its {} ranks began: other work takes their "
                                           "time",
                                           host, node.load, node.ranks));
        }
    }
    return warnings;
}

std::vector<std::string> device_warnings(Environment const& environment) {
    std::vector<std::string> warnings;
    std::vector<Rank> far;
    for (RankPlace const& place : environment.ranks) {
        if (place.device && place.device->other_numa_node) {
            far.push_back(place.rank);
        }
    }
    if (!far.empty()) {
        warnings.push_back(
            fmt::format("{} of {} ranks run on another NUMA node than their GPU (the first: rank {}): what the host "
                        "reads and writes there crosses sockets; bind ranks near their GPUs, or choose with --device",
                        far.size(), environment.ranks.size(), far.front()));
    }
    if (on_test_double(environment)) {
        warnings.emplace_back(test_double_warning);
    }
    return warnings;
}

}  // namespace dlmb::record
