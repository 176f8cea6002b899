// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/environment/placement.hpp"

#include "common/bootstrap/launch_guard.hpp"
#include "common/bootstrap/node_layout.hpp"
#include "common/formats/record/json.hpp"
#include "common/measure/environment/machine.hpp"
#include "common/measure/environment/parameter_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dlmb::measure {

void fields(auto& io, json::Of<NodeFacts> auto& node) {
    io("name", node.name);
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

std::string settings_from_files(Bootstrap const& bootstrap) {
    auto const facts = bootstrap.facts();
    auto const files = facts.find(parameter_files_fact);
    return file_settings_text(file_settings(read_launcher_variables(), files == facts.end() ? "" : files->second));
}

NodeFacts describe_node(Bootstrap const& bootstrap) {
    Topology const topology = read_topology();
    NodeConditions const conditions = read_conditions();
    NodeFacts node{bootstrap.host(),
                   {{"cpu_model", cpu_model()},
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
    if (std::string settings = settings_from_files(bootstrap); !settings.empty()) {
        node.identity["parameter_files"] = std::move(settings);
    }
    return node;
}

record::RankDevice describe_device(DeviceUse const& use, std::string const& numa_of_rank) {
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
        mine.node = describe_node(bootstrap);
    }
    return mine;
}

}  // namespace

Placement gather_placement(Bootstrap& bootstrap, DeviceUse const& device) {
    NodeLayout const layout = gather_layout(bootstrap);
    Placement placement;
    placement.nodes.resize(static_cast<std::size_t>(layout.nodes));
    for (Blob const& each :
         bootstrap.all_gather(record::to_blob(record::write_value(describe_this_rank(bootstrap, device), "rank")))) {
        int const number = layout.node_of[placement.ranks.size()];
        RankFacts& rank = placement.ranks.emplace_back();
        record::read_value(record::from_blob(each), rank, "rank");
        rank.place.node = number;
        if (rank.node) {
            placement.nodes[static_cast<std::size_t>(number)] = *rank.node;
        }
    }
    std::map<std::string, int> nodes_with;
    for (NodeFacts const& node : placement.nodes) {
        ++nodes_with[node.name];
    }
    for (std::size_t number = 0; number < placement.nodes.size(); ++number) {
        NodeFacts& node = placement.nodes[number];
        node.name += nodes_with[node.name] > 1 ? fmt::format(" (node {})", number) : "";
    }
    for (RankFacts& rank : placement.ranks) {
        NodeFacts& node = placement.nodes[static_cast<std::size_t>(*rank.place.node)];
        ++node.ranks;
        auto const offered = static_cast<std::size_t>(std::max(node.units, 0));
        rank.place.bound = rank.units.size() < offered || offered == 1;
    }
    return placement;
}

std::string gpus_in_use(std::vector<RankFacts> const& ranks) {
    std::map<std::string, std::map<int, std::set<std::string>>> buses_of;  // by model, then by node
    for (RankFacts const& rank : ranks) {
        if (rank.place.device) {
            buses_of[rank.device_model][rank.place.node.value_or(0)].insert(rank.place.device->pci_bus_id);
        }
    }
    std::string text;
    for (auto const& [model, nodes] : buses_of) {
        std::vector<std::size_t> counts;
        for (auto const& [node, buses] : nodes) {
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

namespace {

struct Difference {
    std::string name;
    std::string value;
    std::string expected;
};

std::vector<Difference> differences(NodeFacts const& node, NodeFacts const& first) {
    std::set<std::string> names;
    for (auto const* identity : {&node.identity, &first.identity}) {
        for (auto const& [name, value] : *identity) {
            names.insert(name);
        }
    }
    auto const value_in = [](NodeFacts const& facts, std::string const& name) {
        auto const found = facts.identity.find(name);
        return found == facts.identity.end() ? std::string{} : found->second;
    };
    std::vector<Difference> found;
    for (std::string const& name : names) {
        if (value_in(node, name) != value_in(first, name)) {
            found.push_back({name, value_in(node, name), value_in(first, name)});
        }
    }
    return found;
}

/// Warns of host names that are no names of nodes.
std::vector<std::string> name_warnings(Placement const& placement) {
    std::map<std::string, std::set<int>> nodes_of_name;
    std::map<int, std::set<std::string>> names_of_node;
    for (RankFacts const& rank : placement.ranks) {
        nodes_of_name[rank.place.host].insert(rank.place.node.value_or(0));
        names_of_node[rank.place.node.value_or(0)].insert(rank.place.host);
    }
    std::vector<std::string> warnings;
    for (auto const& [name, nodes] : nodes_of_name) {
        if (nodes.size() > 1) {
            warnings.push_back(fmt::format("{} nodes have the host name '{}': nodes are told apart by the memory that "
                                           "ranks share",
                                           nodes.size(), name));
        }
    }
    for (auto const& [node, names] : names_of_node) {
        if (names.size() > 1) {
            warnings.push_back(fmt::format("the ranks of node {} give {} host names ({}): they share memory, so they "
                                           "are counted as one node",
                                           node, names.size(), fmt::join(names, ", ")));
        }
    }
    return warnings;
}

/// How many cores of a node have ranks that are bound to different hardware threads of theirs.
std::ptrdiff_t shared_cores(Placement const& placement, NodeFacts const& node) {
    std::map<int, std::set<std::vector<int>>> users;  // by core: the sets of units of the ranks on it
    for (RankFacts const& rank : placement.ranks) {
        bool const here = rank.place.bound && &placement.node_of(rank) == &node;
        for (int const core : here ? rank.cores : std::vector<int>{}) {
            users[core].insert(rank.units);
        }
    }
    return std::count_if(users.begin(), users.end(), [](auto const& core) { return core.second.size() > 1; });
}

}  // namespace

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
    for (NodeFacts const& node : placement.nodes) {
        if (node.ranks > node.units) {
            warnings.push_back(fmt::format("{} ranks share {} processing units on {}: times include waiting for a turn",
                                           node.ranks, node.units, node.name));
        }
    }
    for (NodeFacts const& node : placement.nodes) {
        if (auto const shared = shared_cores(placement, node); shared > 0) {
            warnings.push_back(
                fmt::format("on {} ranks share {} cores as their hardware threads: each slows the other; "
                            "give each a core with mpirun --bind-to core or srun --cpu-bind=cores",
                            node.name, shared));
        }
    }
    NodeFacts const& first = placement.nodes.front();
    for (NodeFacts const& node : placement.nodes) {
        for (auto const& [name, value, expected] : differences(node, first)) {
            warnings.push_back(fmt::format("node {} differs from {}: {} is '{}', not '{}'", node.name, first.name, name,
                                           value, expected));
        }
    }
    for (NodeFacts const& node : placement.nodes) {
        if (!node.governor.empty() && node.governor != "performance") {
            warnings.push_back(fmt::format("the frequency governor of {} is '{}': times follow the clock; set it with "
                                           "cpupower frequency-set -g performance",
                                           node.name, node.governor));
        }
        if (node.load > node.ranks) {
            warnings.push_back(fmt::format("{} had a load of {:.1f} before its {} ranks began: other work takes their "
                                           "time",
                                           node.name, node.load, node.ranks));
        }
    }
    for (std::string& warning : name_warnings(placement)) {
        warnings.push_back(std::move(warning));
    }
    return warnings;
}

std::vector<std::string> device_warnings(record::Environment const& environment) {
    std::vector<std::string> warnings;
    std::vector<Rank> far;
    for (record::RankPlace const& place : environment.ranks) {
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
    if (record::on_test_double(environment)) {
        warnings.emplace_back(record::test_double_warning);
    }
    return warnings;
}

}  // namespace dlmb::measure
