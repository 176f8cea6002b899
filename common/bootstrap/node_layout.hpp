// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks share a node. A node is a set of ranks that can share memory, as the bootstrap found it; the name of its
// host is a label, which two nodes may share and which may differ within one.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace dlmb {

struct NodeLayout {
    std::vector<int> node_of;  // by rank; nodes are numbered in the order of their first ranks
    int nodes = 0;

    /// Ranks on each node, where that is one number and each node has consecutive ranks; otherwise 0.
    [[nodiscard]] int ranks_per_node() const;
};

/// `leaders`: by rank, what Bootstrap::node_leader() is there.
[[nodiscard]] NodeLayout layout_of(std::span<Rank const> leaders);

/// Collective, equal on all ranks.
[[nodiscard]] NodeLayout gather_layout(Bootstrap& bootstrap);

/// Equal in two processes that have the same kernel and the same folder for shared memory, and only there: containers
/// on one machine have such a folder of their own. Empty where the system does not say.
[[nodiscard]] std::string shared_memory_id(std::filesystem::path const& root = "/");

}  // namespace dlmb
