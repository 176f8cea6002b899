// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Export for UCC's TL/UCP (src/coll_score/ucc_coll_score.c): a tuning string, or sections of ucc.conf where rules speak
// of nodes.
#pragma once

#include "common/tuning/exporters/export.hpp"

namespace dlmb::tuning {

/// Sizes and ranks are closed in the table, ends of sizes are exclusive in UCC.
[[nodiscard]] Export to_ucc(TuningTable const& table, Slice const& slice);

}  // namespace dlmb::tuning
