// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A node as hwloc's XML describes it (HWLOC_XMLFILE). Without hwloc in the build the input is not looked at.
#include "common/record/machine.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <cstdlib>

namespace dlmb::fuzz {

void topology(std::string_view input) {
    static MemoryFile const file;
    file.hold(input);
    setenv("HWLOC_XMLFILE", file.path().c_str(), 1);
    setenv("HWLOC_HIDE_ERRORS", "2", 1);
    setenv("HWLOC_LIBXML", "0", 1);  // hwloc's other reader leaks what it has read of a damaged file
    try {
        record::Topology const node = record::read_topology();
        require(!node.source.empty() && node.processing_units >= 0 && node.cores >= 0, "a node with less than nothing");
        std::vector<Device> devices(2);
        devices[0].pci_bus_id = "0000:13:00.0";
        devices[1].pci_bus_id = "0000:b4:00.0";
        require(record::device_distances({{0, 3}, ""}, devices).size() == devices.size(),
                "a device without a distance");
        for (record::NearbyNic const& nic : record::nearby_nics(devices[0].pci_bus_id)) {
            require(nic.hops > 0 && !nic.meeting_point.empty(), "a card that is nowhere");
        }
    } catch (Error const& error) {
        require_line(one_line(error.what()));
    }
    unsetenv("HWLOC_XMLFILE");
}

}  // namespace dlmb::fuzz
