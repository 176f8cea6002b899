// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/ranks_of_this_node.hpp"

#include <algorithm>
#include <span>

namespace dlmb {

std::vector<bool> ranks_of_this_node(Bootstrap& bootstrap) {
    auto const name = std::as_bytes(std::span(bootstrap.host()));
    std::vector<bool> here;
    for (Blob const& other : bootstrap.all_gather(name)) {
        here.push_back(std::equal(other.begin(), other.end(), name.begin(), name.end()));
    }
    return here;
}

}  // namespace dlmb
