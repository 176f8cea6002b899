// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Export for UCX: the message size from which it takes the rendezvous protocol, for links inside a node and between
// nodes. UCX has no other choice that depends on sizes and that a file can hold.
#pragma once

#include "common/tuning/exporters/export.hpp"

#include <string>

namespace dlmb::tuning {

struct UcxInfo {
    std::string version;  // "1.13.1"; thresholds for intra and inter apart exist from 1.17 on
};

/// ucx.conf. From rules of sendrecv that set the knob UCX_RNDV_THRESH.
[[nodiscard]] Export to_ucx(TuningTable const& table, Slice const& slice, UcxInfo const& info);

}  // namespace dlmb::tuning
