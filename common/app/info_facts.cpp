// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/info_facts.hpp"

#include "common/app/adopt_device.hpp"
#include "common/app/printouts.hpp"
#include "common/record/environment.hpp"
#include "common/record/topology.hpp"

namespace dlmb::app {
namespace {

InfoJson describe_device(Device const& device) {
    InfoJson json{{"index", device.index},
                  {"name", device.name},
                  {"pci_bus_id", device.pci_bus_id},
                  {"numa_node", device.numa_node},
                  {"memory_bytes", device.memory},
                  {"cache_bytes", device.cache},
                  {"compute_capability", device.compute_capability},
                  {"peers", device.peers},
                  {"nics", InfoJson::array()}};
    for (record::NearbyNic const& nic : record::nearby_nics(device.pci_bus_id)) {
        json["nics"].push_back({{"names", nic.names},
                                {"pci_bus_id", nic.pci_bus_id},
                                {"hops", nic.hops},
                                {"meeting_point", nic.meeting_point}});
    }
    return json;
}

InfoJson describe_memory() {
    InfoJson kinds = InfoJson::array();
    for (MemoryKind const kind : every_memory_kind) {
        std::string why_not;
        bool const usable = make_memory(kind, why_not) != nullptr;
        kinds.push_back({{"name", name_of(kind)}, {"usable", usable}, {"reason", why_not}});
    }
    return kinds;
}

void add_memory(InfoJson& json, Backend const& backend) {
    json["memory"] = InfoJson::array();
    json["no_memory"] = InfoJson::object();
    for (MemoryKind const kind : every_memory_kind) {
        if (backend.supports(kind)) {
            json["memory"].push_back(name_of(kind));
        } else if (std::string const reason = backend.why_no(kind); !reason.empty()) {
            json["no_memory"][std::string(name_of(kind))] = reason;
        }
    }
}

}  // namespace

InfoJson describe_gpus(Devices const& devices, record::DeviceUse const& use) {
    InfoJson json{{"cuda_runtime", devices.runtime_version},
                  {"cuda_driver", devices.driver_version},
                  {"why_none", devices.why_none},
                  {"devices", InfoJson::array()},
                  {"used_by_this_rank", nullptr}};
    for (Device const& device : devices.list) {
        json["devices"].push_back(describe_device(device));
    }
    if (use.device) {
        json["used_by_this_rank"] = {{"index", use.device->index}, {"reason", use.reason}};
    }
    return json;
}

InfoJson describe_backend(BackendEntry const& entry, BackendContext const& context) {
    InfoJson json{{"name", entry.name}, {"built", entry.make != nullptr}};
    MadeBackend const made = make_backend(entry.name, context);
    json["usable"] = static_cast<bool>(made);
    if (!made) {
        json["reason"] = made.error().reason;
        return json;
    }
    Backend const& backend = *made.value();
    add_memory(json, backend);
    for (MethodInfo const& method : backend.methods()) {
        json["methods"].push_back(
            {{"name", method.name}, {"knobs", method.knobs}, {"description", method.description}});
    }
    for (auto const& [name, value] : backend.provenance()) {
        json["facts"][name] = value;
    }
    return json;
}

InfoJson collect_info(Bootstrap& bootstrap) {
    record::DeviceUse const use = adopt_device(bootstrap, {});
    record::Environment const environment = record::capture_environment(bootstrap, use);
    InfoJson json;
    json["version"] = version_text("dlmb_info");
    json["machine"] = environment.identity;
    json["warnings"] = environment.warnings;
    json["gpus"] = describe_gpus(find_devices(), use);
    json["memory"] = describe_memory();
    for (BackendEntry const& entry : backend_entries()) {
        json["backends"].push_back(describe_backend(entry, BackendContext{bootstrap}));
    }
    return json;
}

}  // namespace dlmb::app
