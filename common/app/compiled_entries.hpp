// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The cells of one point, compiled for the same traffic and the same buffers.
#pragma once

#include "common/app/candidates.hpp"

namespace dlmb::app {

/// candidates[i] runs what entries[i] describes.
struct CompiledEntries {
    std::vector<Entry> entries;
    std::vector<measure::Candidate> candidates;
};

/// Collective. Those that cannot run these plans are reported as skipped and left out.
[[nodiscard]] CompiledEntries compile_entries(LaunchContext& launch, Variant const& variant,
                                              measure::Contest const& contest, std::vector<Entry> entries);

}  // namespace dlmb::app
