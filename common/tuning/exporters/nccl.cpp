// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/nccl.hpp"

#include "common/tuning/exporters/nccl_rows.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::tuning {
namespace {

std::string number_or_any(std::optional<std::uint64_t> value) {
    return value ? fmt::format("{}", *value) : "-1";
}

}  // namespace

Export to_nccl(TuningTable const& table, Slice const& slice, NcclInfo const& info) {
    NcclRows const rows = nccl_rows(table, slice, false, false);
    // Every line that starts otherwise is a rule: NVIDIA's plugin would read a header as one for allreduce.
    std::string text =
        "# collective,min bytes,max bytes,algorithm,protocol,channels,nodes,ranks,pipelined operations\n";
    for (NcclRow const& row : rows.rows) {
        text += fmt::format("{},{},{},{},{},{},{},{},{}\n", row.collective, row.bytes.min, row.bytes.max,
                            row.algorithm(), row.protocol(), row.channels(), number_or_any(row.nodes),
                            number_or_any(row.ranks), number_or_any(row.pipe_ops));
    }
    std::vector<std::string> notes{
        "NCCL loads one tuner only: this one takes the place of another, such as that of aws-ofi-nccl"};
    if (std::any_of(rows.rows.begin(), rows.rows.end(), [](NcclRow const& row) { return row.channels() == "-1"; })) {
        notes.emplace_back("rules without channels leave their number to NCCL; NVIDIA's example plugin would take 1");
    }
    return {{{"dlmb_nccl.csv", std::move(text)}},
            {{"DLMB_NCCL_TABLE", std::string(folder_mark) + "/dlmb_nccl.csv"}, {"NCCL_TUNER_PLUGIN", info.plugin}},
            rows.lost,
            std::move(notes)};
}

}  // namespace dlmb::tuning
