// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A node with devices, through hwloc (HWLOC_XMLFILE). hwloc's own reader of XML ends with a segmentation fault where an
// object lacks its sets (2.9), so the input is not XML: it chooses the devices of a well-formed one. Without hwloc in
// the build the input is not looked at.
#include "common/measure/environment/machine.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <fmt/format.h>

#include <cstdlib>

/// Asked by LeakSanitizer: hwloc 2.9 loses the object that it reads where a value is wrong, and a program reads one
/// file.
extern "C" char const* __lsan_default_suppressions();   // NOLINT(*-reserved-identifier,*-identifier-naming): its name
extern "C" char const* __lsan_default_suppressions() {  // NOLINT(*-reserved-identifier,*-identifier-naming)
    return "leak:libhwloc";
}

namespace dlmb::fuzz {
namespace {

/// A package of one core, still open for devices.
std::string package(int index) {
    std::string const sets = fmt::format(
        R"( os_index="{0}" cpuset="{1:#x}" complete_cpuset="{1:#x}" nodeset="{1:#x}" complete_nodeset="{1:#x}")", index,
        1 << index);
    return fmt::format("<object type=\"Package\"{0}>\n<object type=\"NUMANode\"{0}/>\n<object type=\"Core\"{0}>\n"
                       "<object type=\"PU\"{0}/>\n</object>\n",
                       sets);
}

std::size_t digit(char character) {
    return static_cast<unsigned char>(character - '0') % 10;
}

/// None where there is no value.
std::string attribute(std::string_view name, std::string_view value) {
    std::string text;
    for (char const character : value) {
        bool const plain =
            character > ' ' && character < 0x7f && std::string_view("<>&\"").find(character) == std::string_view::npos;
        text += plain ? character : '_';
    }
    return text.empty() ? "" : fmt::format(" {}=\"{}\"", name, text);
}

/// A line: 'b' a bridge, 'p' a device on its bus, 'o' what an operating system calls it, and how deep it stands; then a
/// digit, which is the class or type; then the bus address or name.
std::string open_device(char kind, std::size_t depth, char choice, std::string_view rest) {
    constexpr std::string_view classes[] = {"0302", "0207", "0200"};
    std::string_view const pci_class = classes[digit(choice) % std::size(classes)];
    std::string_view const ids = "[10de:2335] [10de:2335] a1";
    if (kind == 'b') {
        std::string const above =
            depth == 0 ? "" : fmt::format(" pci_type=\"0604 {}\"", ids) + attribute("pci_busid", rest);
        return fmt::format(R"(<object type="Bridge" bridge_type="{}-1" depth="{}" bridge_pci="0000:[00-ff]"{}>)",
                           depth == 0 ? 0 : 1, depth, above);
    }
    if (kind == 'p') {
        return fmt::format(R"(<object type="PCIDev" pci_type="{} {}"{}>)", pci_class, ids,
                           attribute("pci_busid", rest));
    }
    return fmt::format(R"(<object type="OSDev" osdev_type="{}"{}>)", digit(choice) % 6, attribute("name", rest));
}

/// Two packages; a line "/" begins the devices of the second one. Nothing for an input without lines.
std::string document(std::string_view input) {
    if (input.empty()) {
        return "";
    }
    constexpr std::size_t deepest = 8;
    std::string text =
        "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n"
        "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" allowed_cpuset=\"0x3\" "
        "nodeset=\"0x3\" complete_nodeset=\"0x3\" allowed_nodeset=\"0x3\">\n";
    std::size_t depth = 0;
    auto const close_to = [&](std::size_t outer) {
        for (; depth > outer; --depth) {
            text += "</object>\n";
        }
    };
    bool second = false;
    text += package(0);
    for (std::string_view const line : split(input, "\n")) {
        if (line == "/" && !second) {
            close_to(0);
            text += "</object>\n" + package(1);
            second = true;
        } else if (line.size() >= 3) {
            close_to(std::min({depth, deepest, digit(line[1])}));
            text += open_device(line[0], depth, line[2], line.substr(3)) + "\n";
            ++depth;
        }
    }
    close_to(0);
    return text + (second ? "" : "</object>\n" + package(1)) + "</object>\n</object>\n</topology>\n";
}

}  // namespace

void topology(std::string_view input) {
    static MemoryFile const file;
    file.hold(document(input));
    setenv("HWLOC_XMLFILE", file.path().c_str(), 1);
    setenv("HWLOC_HIDE_ERRORS", "2", 1);
    setenv("HWLOC_LIBXML", "0", 1);  // what its other reader loses is lost by libxml2
    try {
        measure::Topology const node = measure::read_topology();
        require(!node.source.empty() && node.processing_units >= 0 && node.cores >= 0, "a node with less than nothing");
        std::vector<Device> devices(2);
        devices[0].pci_bus_id = "0000:13:00.0";
        devices[1].pci_bus_id = "0000:b4:00.0";
        require(measure::device_distances({{0, 1}, ""}, devices).size() == devices.size(),
                "a device without a distance");
        for (measure::NearbyNic const& nic : measure::nearby_nics(devices[0].pci_bus_id)) {
            require(nic.hops >= 0 && !nic.meeting_point.empty(), "a card that is nowhere");
        }
    } catch (Error const& error) {
        require_line(one_line(error.what()));
    }
    unsetenv("HWLOC_XMLFILE");
}

}  // namespace dlmb::fuzz
