// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace dlmb::ucx {

/// The variables that decide what prefer_for_tcp() does, as a test wants them and not as its caller had them, for as
/// long as it lives. Made and destroyed while no other thread reads them.
class UcxEnvironment {
public:
    using Values = std::map<std::string, std::string>;
    /// Those not named are unset.
    explicit UcxEnvironment(Values const& values) {
        for (char const* const name :
             {"UCX_TLS", "UCX_MAX_RNDV_RAILS", "UCX_RNDV_THRESH", "UCX_TCP_RX_SEG_SIZE", "UCX_TCP_SNDBUF"}) {
            char const* const before = std::getenv(name);
            before_[name] = before == nullptr ? std::nullopt : std::optional<std::string>(before);
            auto const wanted = values.find(name);
            put(name, wanted == values.end() ? std::nullopt : std::optional(wanted->second));
        }
    }
    UcxEnvironment(UcxEnvironment const&) = delete;
    UcxEnvironment& operator=(UcxEnvironment const&) = delete;
    ~UcxEnvironment() {
        for (auto const& [name, value] : before_) {
            put(name, value);
        }
    }

private:
    static void put(std::string const& name, std::optional<std::string> const& value) {
        if (value) {
            setenv(name.c_str(), value->c_str(), 1);
        } else {
            unsetenv(name.c_str());
        }
    }

    std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace dlmb::ucx
