// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/transports.hpp"

#include <set>
#include <sstream>

namespace dlmb::ucx {

std::string transports_in(std::string const& endpoint_info) {
    std::set<std::string> names;
    std::istringstream lines(endpoint_info);
    for (std::string line; std::getline(lines, line);) {
        // "#   lane[0]:  3:sysv/memory.0 md[2]  -> md[2]/sysv/sysdev[255]  am am_bw#0": the name is between ':' and '/'
        std::size_t const lane = line.find("lane[");
        std::size_t const slash = lane == std::string::npos ? lane : line.find('/', lane);
        std::size_t const colon = slash == std::string::npos ? slash : line.rfind(':', slash);
        if (colon != std::string::npos && colon > lane) {
            names.insert(line.substr(colon + 1, slash - colon - 1));
        }
    }
    std::string joined;
    for (std::string const& name : names) {
        joined += joined.empty() ? name : " " + name;
    }
    return joined;
}

}  // namespace dlmb::ucx
