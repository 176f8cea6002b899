// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/environment/capture.hpp"

#include "common/base/version.hpp"
#include "common/bootstrap/launch_guard.hpp"
#include "common/formats/record/json.hpp"
#include "common/measure/environment/machine.hpp"
#include "common/measure/environment/placement.hpp"
#include "common/measure/environment/variables.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::measure {
namespace {

using Facts = std::map<std::string, std::string>;

std::string binding_of(std::vector<RankFacts> const& ranks) {
    auto const bound = std::count_if(ranks.begin(), ranks.end(), [](auto const& rank) { return rank.place.bound; });
    return bound == 0 ? "none" : bound == static_cast<std::ptrdiff_t>(ranks.size()) ? "all" : "some";
}

/// Debug builds and sanitizers.
std::vector<std::string> build_warnings() {
    std::vector<std::string> warnings;
    if (build_info().build_type == "Debug") {
        warnings.emplace_back(
            "this is a Debug build: its times are not those of the library it measures; use the release preset");
    }
    if (!build_info().sanitizers.empty()) {
        warnings.push_back(
            fmt::format("this build runs under sanitizers ({}): its times mean nothing", build_info().sanitizers));
    }
    return warnings;
}

Facts identity_of(Bootstrap const& bootstrap, Placement const& placement) {
    Facts identity = placement.nodes.front().identity;
    std::vector<std::size_t> ranks_per_node;
    for (NodeFacts const& node : placement.nodes) {
        ranks_per_node.push_back(static_cast<std::size_t>(node.ranks));
    }
    identity["ranks"] = std::to_string(placement.ranks.size());
    identity["nodes"] = std::to_string(placement.nodes.size());
    identity["ranks_per_node"] = range_text(ranks_per_node);
    identity["binding"] = binding_of(placement.ranks);
    identity["bootstrap"] = bootstrap.kind();
    identity["build_type"] = build_info().build_type;
    identity["sanitizers"] = build_info().sanitizers;
    identity["result_schema"] =
        std::string{record::result_schema}.substr(0, std::string_view{record::result_schema}.rfind('.'));
    if (std::string gpus = gpus_in_use(placement.ranks); !gpus.empty()) {
        identity["gpus"] = std::move(gpus);
    }
    auto const facts = bootstrap.facts();
    if (auto const library = facts.find("mpi_library"); library != facts.end()) {
        identity["mpi_library"] = library->second;
    }
    return identity;
}

Facts informational_of(Bootstrap const& bootstrap, Placement const& placement, DeviceUse const& device) {
    Facts facts = machine_facts();
    if (!device.runtime_version.empty()) {
        facts["cuda_runtime"] = device.runtime_version;
        facts["cuda_driver"] = device.driver_version;
    }
    facts["version"] = build_info().version;
    facts["git_revision"] = build_info().git_revision;
    facts["compiler"] = build_info().compiler;
    facts["compiler_flags"] = build_info().flags;
    facts["topology_source"] = placement.nodes.front().topology_source;
    facts["time"] = record::utc_now();
    std::string hosts;
    for (NodeFacts const& node : placement.nodes) {
        hosts += (hosts.empty() ? "" : ",") + node.name;
    }
    facts["hosts"] = hosts;
    for (auto const& [name, value] : bootstrap.facts()) {
        if (name != "mpi_library" && name != parameter_files_fact) {
            facts[name] = value;
        }
    }
    return facts;
}

}  // namespace

record::Environment capture_environment(Bootstrap& bootstrap, DeviceUse const& device) {
    Placement const placement = gather_placement(bootstrap, device);
    Blob blob;
    if (bootstrap.rank() == 0) {
        blob = record::to_blob({{"identity", identity_of(bootstrap, placement)},
                                {"informational", informational_of(bootstrap, placement, device)},
                                {"variables", recorded_variables(read_launcher_variables())}});
    }
    bootstrap.broadcast(blob, 0);
    record::Json const told = record::from_blob(blob);

    record::Environment environment;
    environment.identity = told.at("identity").get<Facts>();
    environment.informational = told.at("informational").get<Facts>();
    environment.variables = told.at("variables").get<Facts>();
    for (RankFacts const& rank : placement.ranks) {
        environment.ranks.push_back(rank.place);
    }
    for (NodeFacts const& node : placement.nodes) {
        environment.largest_cache = std::max(environment.largest_cache, node.largest_cache);
    }
    for (auto const& warnings : {build_warnings(), placement_warnings(placement), device_warnings(environment)}) {
        environment.warnings.insert(environment.warnings.end(), warnings.begin(), warnings.end());
    }
    environment.env_key = record::environment_key(environment.identity);
    return environment;
}

}  // namespace dlmb::measure
