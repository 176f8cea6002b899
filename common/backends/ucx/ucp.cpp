// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/ucp.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <sstream>

namespace dlmb::ucx {

void check(ucs_status_t status, std::string_view call, Where where) {
    if (status != UCS_OK) {
        throw Error(fmt::format("ucx: {}: {}", call, ucs_status_string(status)), where);
    }
}

std::string printed(std::function<void(std::FILE*)> const& print) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const stream = open_memstream(&text, &size);
    if (stream == nullptr) {
        throw Error("ucx: open_memstream: no memory for UCX's description");
    }
    print(stream);
    std::fclose(stream);  // writes text and size
    std::unique_ptr<char, void (*)(void*)> const owner(text, std::free);
    return {text, size};
}

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

std::map<std::string, std::string, std::less<>> settings_of_interest(ucp_config_t const& config) {
    return {{"ucx_tls", setting(config, "TLS")},
            {"ucx_rndv_scheme", setting(config, "RNDV_SCHEME")},
            {"ucx_rndv_thresh", setting(config, "RNDV_THRESH")},
            {"ucx_zcopy_thresh", setting(config, "ZCOPY_THRESH")}};
}

}  // namespace dlmb::ucx
