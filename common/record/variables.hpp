// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which environment variables are written into a result file: those that steer a communication library, by allow-list.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace dlmb::record {

/// True for variables that tune a measured library; false for job ids, addresses and everything unknown.
[[nodiscard]] bool is_recorded(std::string_view name);

/// The value, or "<redacted>" when the name or the value looks like it carries a secret.
[[nodiscard]] std::string recorded_value(std::string_view name, std::string_view value);

/// `environment` is a null-terminated list of "NAME=value", as `environ`.
[[nodiscard]] std::map<std::string, std::string> recorded_variables(char const* const* environment);

/// Of this process.
[[nodiscard]] std::map<std::string, std::string> recorded_variables();

}  // namespace dlmb::record
