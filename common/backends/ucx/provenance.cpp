// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/provenance.hpp"

#include "common/backends/ucx/memory_stream.hpp"

#include <fmt/core.h>

#include <set>
#include <sstream>

namespace dlmb::ucx {
namespace {

std::string run_time_version() {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    ucp_get_version(&major, &minor, &release);
    return fmt::format("{}.{}.{}", major, minor, release);
}

std::string transports_of(Transport const& transport) {
    std::string info;
    for (ucp_ep_h const endpoint : transport.endpoints()) {
        if (endpoint != nullptr) {
            info += printed([endpoint](std::FILE* out) { ucp_ep_print_info(endpoint, out); });
        }
    }
    return info.empty() ? "none yet" : transports_in(info);
}

}  // namespace

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

Provenance provenance_of(Transport const& transport) {
    Provenance facts = transport.settings();
    facts["ucx_version"] = run_time_version();
    facts["ucx_headers"] = fmt::format("{}.{}", UCP_API_MAJOR, UCP_API_MINOR);
    facts["transports"] = transports_of(transport);
    facts["progress_yield"] = transport.idle().yields() ? "yes" : "no";
    facts["error_mode"] = "none";
    facts["shared_memory"] =
        transport.why_no_shared_memory().empty() ? "where it is faster" : transport.why_no_shared_memory();
    facts["memory_types"] = transport.memory_types().text();
    return facts;
}

}  // namespace dlmb::ucx
