// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/page_placement.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace dlmb {

PagePlacement sample_pages(std::byte const* data, Bytes bytes, std::span<int const> wanted_nodes, std::size_t most) {
    auto const page = static_cast<Bytes>(sysconf(_SC_PAGESIZE));
    Bytes const pages = (bytes + page - 1) / page;
    std::size_t const count = std::min<Bytes>(most, pages);
    std::vector<void const*> asked;
    for (std::size_t i = 0; i < count; ++i) {
        asked.push_back(data + pages * i / count * page);
    }
    std::vector<int> node(count, -1);
    // Without a list of nodes to move to it fills in where the pages are; a negative number is an error of that page.
    if (count == 0 || syscall(SYS_move_pages, 0, count, asked.data(), nullptr, node.data(), 0) != 0) {
        return {};
    }
    PagePlacement placement;
    for (int const where : node) {
        bool const wanted =
            wanted_nodes.empty() || std::find(wanted_nodes.begin(), wanted_nodes.end(), where) != wanted_nodes.end();
        placement.sampled += where >= 0 ? 1 : 0;
        placement.elsewhere += where >= 0 && !wanted ? 1 : 0;
    }
    return placement;
}

Bytes huge_page_bytes() {
    std::ifstream file("/proc/self/smaps_rollup");
    constexpr Bytes kib = 1024;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("AnonHugePages:")) {
            return std::stoull(line.substr(line.find(':') + 1)) * kib;
        }
    }
    return 0;
}

}  // namespace dlmb
