// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameter "transform", which every pattern has, and the pattern whose plans it transforms.
#pragma once

#include "patterns/pattern.hpp"

#include <memory>

namespace dlmb {

inline constexpr ParameterInfo transform_parameter{
    "transform",
    "what is done to the plans, in order: none, or some of bucket:BYTES, fuse, split:PARTS, overlap[:PARTS], reorder, "
    "joined by commas; given again, a sweep",
    "none", ParameterKind::sequence};

/// The pattern itself for "none". Throws UsageError for what is no transformation or does not apply to its operations.
[[nodiscard]] std::unique_ptr<Pattern> transformed(Parameters const& parameters, std::unique_ptr<Pattern> pattern);

/// Whether one of the transformations is `reorder`. It leaves plans without computations as they are, and only all
/// ranks together know whether there are any.
[[nodiscard]] bool reorders(Parameters const& parameters);
inline constexpr char const* nothing_to_reorder =
    "--transform reorder: these plans have no computations; give them a time first";

}  // namespace dlmb
