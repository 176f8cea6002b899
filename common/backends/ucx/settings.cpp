// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/settings.hpp"

#include "common/backend_kit/algorithms/shape.hpp"
#include "common/backends/ucx/check.hpp"
#include "common/backends/ucx/memory_stream.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <sstream>

namespace dlmb::ucx {
ConfigHandle read_config() {
    ucp_config_t* config = nullptr;
    check(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    return ConfigHandle(config);
}

std::string setting(ucp_config_t const& config, std::string_view name) {
    std::istringstream listing(
        printed([&](std::FILE* out) { ucp_config_print(&config, out, nullptr, UCS_CONFIG_PRINT_CONFIG); }));
    std::string const wanted = "UCX_" + std::string(name) + "=";
    for (std::string line; std::getline(listing, line);) {
        if (line.rfind(wanted, 0) == 0) {
            return line.substr(wanted.size());
        }
    }
    return {};
}

std::string set(ucp_config_t& config, ContextSettings const& settings) {
    for (auto const& [name, value] : settings) {
        if (setting(config, name).empty()) {
            return fmt::format("UCX {} has no setting UCX_{}", ucp_get_version_string(), name);
        }
        ucs_status_t const status = ucp_config_modify(&config, name.c_str(), value.c_str());
        if (status != UCS_OK) {
            return fmt::format("UCX {} does not take {} for UCX_{}: {}", ucp_get_version_string(), value, name,
                               ucs_status_string(status));
        }
    }
    return {};
}

namespace {

bool only_tcp(ucp_config_t const& config) {
    std::istringstream transports(setting(config, "TLS"));
    bool has_tcp = false;
    for (std::string each; std::getline(transports, each, ',');) {
        if (each != "tcp" && each != "self") {
            return false;
        }
        has_tcp = has_tcp || each == "tcp";
    }
    return has_tcp;
}

/// With a bounded send buffer what is sent eagerly is read from a cache: rendezvous pays later.
constexpr Bytes rendezvous_by_small_buffers = Bytes{896} << 10;

bool user_has_set(char const* variable) {
    return std::getenv(variable) != nullptr;
}

}  // namespace

std::string name_to_modify(std::string_view setting, unsigned major, unsigned minor) {
    constexpr std::string_view tcp = "TCP_";
    constexpr unsigned first_with_transport = 17;
    bool const without = major == 1 && minor < first_with_transport && setting.substr(0, tcp.size()) == tcp;
    return std::string(without ? setting.substr(tcp.size()) : setting);
}

ContextSettings prefer_for_tcp(ucp_config_t& config, bool one_node) {
    ContextSettings preferred;
    if (!only_tcp(config)) {
        return preferred;
    }
    std::string const threshold = setting(config, "RNDV_THRESH");
    if (threshold == "auto" || threshold == "intra:auto,inter:auto") {
        preferred["RNDV_THRESH"] =
            fmt::format("{}", one_node ? rendezvous_by_small_buffers : algorithms::rendezvous_by_sockets);
    }
    if (!user_has_set("UCX_TCP_RX_SEG_SIZE")) {
        preferred["TCP_RX_SEG_SIZE"] = "100k";
    }
    if (one_node && !user_has_set("UCX_TCP_SNDBUF")) {
        preferred["TCP_SNDBUF"] = "256k";
    }
    if (one_node && setting(config, "MAX_RNDV_RAILS") == "2" && !user_has_set("UCX_MAX_RNDV_RAILS")) {
        preferred["MAX_RNDV_RAILS"] = "1";  // the node's network devices are one wire here
    }
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    ucp_get_version(&major, &minor, &release);
    for (auto const& [name, value] : preferred) {
        check(ucp_config_modify(&config, name_to_modify(name, major, minor).c_str(), value.c_str()),
              "ucp_config_modify");
    }
    return preferred;
}

std::map<std::string, std::string, std::less<>> settings_of_interest(ucp_config_t const& config) {
    return {{"ucx_tls", setting(config, "TLS")},
            {"ucx_rndv_scheme", setting(config, "RNDV_SCHEME")},
            {"ucx_rndv_thresh", setting(config, "RNDV_THRESH")},
            {"ucx_zcopy_thresh", setting(config, "ZCOPY_THRESH")}};
}

}  // namespace dlmb::ucx
