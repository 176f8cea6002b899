// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What both formats of NCCL's tuners say: a line for each choice, number of ranks and number of nodes.
#pragma once

#include "common/tuning/exporters/carried.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::tuning {

struct NcclRow {
    Rule const* rule = nullptr;
    std::string_view collective;         // "reducescatter"
    ByteInterval bytes;                  // NCCL's nBytes
    std::optional<std::uint64_t> ranks;  // absent: any
    std::optional<std::uint64_t> nodes;
    std::optional<std::uint64_t> pipe_ops;
    [[nodiscard]] std::string const& algorithm() const { return rule->choose.algorithm->name; }
    [[nodiscard]] std::string const& protocol() const { return rule->choose.params.protocol; }
    /// -1: as many as NCCL takes by itself.
    [[nodiscard]] std::string channels() const;
};

struct NcclRows {
    std::vector<NcclRow> rows;  // in the order of the table
    std::vector<Lost> lost;     // in the order of the table
};

/// `every_rank`: a row holds for one number of ranks. `chunks`: the format has a column for chunk_bytes.
[[nodiscard]] NcclRows nccl_rows(TuningTable const& table, Slice const& slice, bool every_rank, bool chunks);

}  // namespace dlmb::tuning
