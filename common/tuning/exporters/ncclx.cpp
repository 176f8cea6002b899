// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/nccl.hpp"
#include "common/tuning/exporters/nccl_rows.hpp"
#include "common/tuning/size_basis.hpp"

#include <fmt/core.h>

#include <limits>

namespace dlmb::tuning {
namespace {

constexpr Bytes most_csv_bytes = std::numeric_limits<std::int64_t>::max();

std::string interval_text(ByteInterval bytes) {
    return bytes.max == no_limit ? fmt::format("[{},)", bytes.min) : fmt::format("[{},{}]", bytes.min, bytes.max);
}

/// Numbers of nodes on which so many ranks lie evenly: the file knows ranks as nodes times ranks per node.
std::vector<std::uint64_t> nodes_of(NcclRow const& row) {
    std::vector<std::uint64_t> nodes;
    for (std::uint64_t count = 1; count <= *row.ranks; ++count) {
        if (*row.ranks % count == 0 && row.nodes.value_or(count) == count) {
            nodes.push_back(count);
        }
    }
    return nodes;
}

std::string line(NcclRow const& row, ByteInterval bytes, std::uint64_t nodes) {
    auto const chunk = row.rule->choose.params.chunk_bytes;
    std::string const optional_columns =
        chunk          ? fmt::format(",{},-1,{}", row.pipe_ops ? fmt::format("{}", *row.pipe_ops) : "-1", *chunk)
        : row.pipe_ops ? fmt::format(",{}", *row.pipe_ops)
                       : "";
    return fmt::format("{},{},{},{},{},{},{}{}\n", row.collective, interval_text(bytes), row.algorithm(),
                       row.protocol(), row.channels(), nodes, *row.ranks / nodes, optional_columns);
}

}  // namespace

Export to_ncclx(TuningTable const& table, Slice const& slice) {
    NcclRows rows = nccl_rows(table, slice, true, true);
    std::string text =
        "# collective,bytesPerRank,algorithm,protocol,channels,nNodes,nLocalRanks,numPipeOps,regBuff,chunkSize\n";
    for (NcclRow const& row : rows.rows) {
        auto bytes = to_unit(unit_of(SizeConsumer::ncclx, row.rule->when.operation, false), row.bytes, *row.ranks);
        if (!bytes) {
            continue;  // no size of n equal shares lies in the rule
        }
        bytes->max = row.bytes.max == no_limit || bytes->max > most_csv_bytes ? no_limit : bytes->max;
        if (bytes->min > most_csv_bytes) {
            rows.lost.push_back(
                {row.rule->id, LostReason::range_limit, "begins beyond the signed integers of the file"});
            continue;
        }
        for (std::uint64_t const nodes : nodes_of(row)) {
            text += line(row, *bytes, nodes);
        }
    }
    return {
        {{"dlmb_ncclx.csv", std::move(text)}},
        {{"NCCLX_TUNER_CONFIG_FILE", std::string(folder_mark) + "/dlmb_ncclx.csv"}},
        in_order(std::move(rows.lost), table),
        {"takes the place of any NCCL_TUNER_PLUGIN",
         "NCCLX divides by the ranks and rounds down, so a size that they do not divide falls to the next lower one"}};
}

}  // namespace dlmb::tuning
