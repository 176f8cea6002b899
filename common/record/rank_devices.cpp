// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/rank_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dlmb::record {
namespace {

/// "8", or "3..4" where nodes differ.
std::string range_text(std::vector<std::size_t> const& counts) {
    auto const [least, most] = std::minmax_element(counts.begin(), counts.end());
    return *least == *most ? std::to_string(*most) : fmt::format("{}..{}", *least, *most);
}

}  // namespace

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

bool on_test_double(Environment const& environment) {
    auto const gpus = environment.identity.find("gpus");
    return gpus != environment.identity.end() && gpus->second.find(test_double_prefix) != std::string::npos;
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
