// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Versions of libraries, out of what records say of them.
#pragma once

#include "common/record/record.hpp"

#include <map>
#include <string>

namespace dlmb::tuning {

using Versions = std::map<std::string, std::string>;

/// By "nccl" and "ucx": the versions that the backend of a cell told.
[[nodiscard]] Versions library_versions(record::Record const& cell);

/// "ucx 1.15.0 instead of 1.13.1": the first library that is in both with another version; empty: none.
[[nodiscard]] std::string other_version(Versions const& these, Versions const& first);

}  // namespace dlmb::tuning
