// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a workload communicates, as the questions that it asks a table: read from the object of `--plan json`.
#pragma once

#include "common/tuning/build/observe.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace dlmb::tuning {

/// One kind of operation at one size; `memory` is empty, a plan does not know it.
struct Demand {
    Place place;
    Bytes bytes = 0;  // in basis_of(operation); of an exchange the mean over its ranks
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(Demand const&) const = default;
};

/// Demand -> how often a rank does it in an iteration, mean over all ranks of the plan. A message counts at its sender.
using Traffic = std::map<Demand, double>;

/// Throws UsageError: no such file, or not a plan document.
[[nodiscard]] Traffic read_traffic(std::filesystem::path const& plan);
/// `source` names the text in messages.
[[nodiscard]] Traffic parse_traffic(std::string const& text, std::string const& source);

}  // namespace dlmb::tuning
