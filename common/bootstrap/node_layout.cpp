// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/node_layout.hpp"

#include "common/bootstrap/over_ranks.hpp"

#include <algorithm>
#include <fstream>
#include <sys/stat.h>

namespace dlmb {

int NodeLayout::ranks_per_node() const {
    if (nodes == 0 || node_of.size() % static_cast<std::size_t>(nodes) != 0) {
        return 0;
    }
    std::size_t const each = node_of.size() / static_cast<std::size_t>(nodes);
    for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
        if (node_of[rank] != static_cast<int>(rank / each)) {
            return 0;
        }
    }
    return static_cast<int>(each);
}

NodeLayout layout_of(std::span<Rank const> leaders) {
    NodeLayout layout;
    std::vector<Rank> known;
    for (Rank const leader : leaders) {
        auto const found = std::find(known.rbegin(), known.rend(), leader);  // mostly the last one
        if (found == known.rend()) {
            layout.node_of.push_back(static_cast<int>(known.size()));
            known.push_back(leader);
        } else {
            layout.node_of.push_back(static_cast<int>(known.rend() - found) - 1);
        }
    }
    layout.nodes = static_cast<int>(known.size());
    return layout;
}

NodeLayout gather_layout(Bootstrap& bootstrap) {
    return layout_of(from_every_rank(bootstrap, bootstrap.node_leader()));
}

std::string shared_memory_id(std::filesystem::path const& root) {
    std::ifstream file(root / "proc/sys/kernel/random/boot_id");
    std::string kernel;
    struct stat folder {};
    if (!(file >> kernel) || stat((root / "dev/shm").c_str(), &folder) != 0) {
        return {};
    }
    return kernel + ' ' + std::to_string(folder.st_dev);
}

}  // namespace dlmb
