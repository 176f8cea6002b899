// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices of alltoallv_perf of nccl-tests: a line per sending rank, a number of bytes per receiving rank.
#include "common/tools/plan/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::trace {
namespace {

class MatrixReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        std::vector<std::vector<Bytes>> rows;
        std::string_view line;
        while (input.line(line)) {
            auto const cells = words(line.substr(0, line.find('#')), " \t,");
            if (cells.empty()) {
                continue;
            }
            std::vector<Bytes> row;
            for (std::string_view const cell : cells) {
                auto const bytes = parse_whole<Bytes>(cell);
                if (!bytes || *bytes >> 63U != 0) {
                    input.refuse(fmt::format("'{}' must be a number of bytes from 0 to 2^63 - 1", cell));
                }
                row.push_back(*bytes);
            }
            if (!rows.empty() && row.size() != rows.front().size()) {
                input.refuse(fmt::format("{} numbers, but {} in the first line", row.size(), rows.front().size()));
            }
            rows.push_back(std::move(row));
            if (rows.size() > rows.front().size()) {
                input.refuse(fmt::format("more than {} lines of {} numbers: the matrix must be square",
                                         rows.front().size(), rows.front().size()));
            }
        }
        if (rows.empty() || rows.size() != rows.front().size()) {
            input.refuse(fmt::format("{} lines of {} numbers: the matrix must be square", rows.size(),
                                     rows.empty() ? 0 : rows.front().size()));
        }
        auto const ranks = static_cast<int>(rows.size());
        for (Rank rank = 0; rank < ranks; ++rank) {
            TraceOperation operation;
            operation.kind = OperationKind::exchange;
            operation.dtype = builder_.assumed_dtype().value_or(Dtype{});
            operation.group = builder_.group({"", ranks, {}, 0});
            operation.send_split.parts = rows[static_cast<std::size_t>(rank)];
            for (std::vector<Bytes> const& row : rows) {
                operation.recv_split.parts.push_back(row[static_cast<std::size_t>(rank)]);
            }
            operation.sent = total(input, "a rank", operation.send_split.parts);
            operation.received = total(input, "a rank", operation.recv_split.parts);
            builder_.add(input.name(), {{rank}, {std::move(operation)}});
        }
    }
};

bool is_nccl_matrix(std::string_view /*name*/, std::string_view head) {
    std::string_view const line = head.substr(0, head.find('\n'));
    return !words(line, " \t,\r").empty() && head.find_first_not_of("0123456789 \t,\r\n") == std::string_view::npos;
}

}  // namespace

TraceFormat nccl_matrix_format() {
    return {"nccl-matrix", "matrices of alltoallv_perf of nccl-tests", is_nccl_matrix, make_reader<MatrixReader>};
}

}  // namespace dlmb::trace
