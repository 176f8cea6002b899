// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Texts of methods and records as parameters and numbers.
#pragma once

#include "common/tuning/table.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace dlmb::tuning {

/// Throws UsageError that says `what` it should be.
[[nodiscard]] std::uint64_t whole_number(std::string_view text, std::string_view what);

/// Of "algorithm:bcast=chain:segment=64K:chain_fanout=2": segment_bytes 65536 and fanout 2. Settings of a library, as
/// rndv_thresh of ucx, are knobs there by the names of its variables ("UCX_RNDV_THRESH"). Knobs that other programs
/// cannot be told are left out. Throws UsageError for what is no number.
[[nodiscard]] ChoiceParams params_of(std::map<std::string, std::string, std::less<>> const& method_knobs);

/// The first parameter that is in both with another value, by its name in tables; empty: none.
[[nodiscard]] std::string contradiction(ChoiceParams const& one, ChoiceParams const& other);

}  // namespace dlmb::tuning
