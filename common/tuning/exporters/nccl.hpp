// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Exports for NCCL: the CSV that libnccl-tuner-dlmb.so reads (NVIDIA's example plugin has the same columns), and the
// CSV of NCCLX's built-in tuner (comms/ncclx/meta/tuner/README.md of torchcomms). Rules are in scope "nccl".
#pragma once

#include "common/tuning/exporters/export.hpp"

#include <string>

namespace dlmb::tuning {

struct NcclInfo {
    std::string plugin;  // what NCCL_TUNER_PLUGIN is set to: the path of libnccl-tuner-dlmb.so
};

/// dlmb_nccl.csv, sizes in NCCL's nBytes, which are those of basis_of.
[[nodiscard]] Export to_nccl(TuningTable const& table, Slice const& slice, NcclInfo const& info);

/// dlmb_ncclx.csv, sizes in nBytes / ranks rounded down. Not tried with a library.
[[nodiscard]] Export to_ncclx(TuningTable const& table, Slice const& slice);

}  // namespace dlmb::tuning
