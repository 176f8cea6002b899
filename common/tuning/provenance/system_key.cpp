// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/provenance/system_key.hpp"

#include "common/record/environment.hpp"

namespace dlmb::tuning {

std::string system_key(std::map<std::string, std::string> identity) {
    for (char const* shape : {"ranks", "nodes", "ranks_per_node"}) {
        identity.erase(shape);
    }
    return record::environment_key(identity);
}

}  // namespace dlmb::tuning
