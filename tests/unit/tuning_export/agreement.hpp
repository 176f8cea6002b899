// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The property that every export has: whatever reads its files answers as the table does, but for rules that the export
// itself calls lost. The readers in these tests are written from the descriptions of the formats and share nothing with
// the exporters.
#pragma once

#include "common/formats/table/table.hpp"
#include "common/tools/tune/exporters/export.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dlmb::tuning {

struct Point {
    TunedOperation operation = TunedOperation::allreduce;
    bool uniform = false;
    Bytes bytes = 0;
    std::uint64_t ranks = 1;
    std::uint64_t nodes = 1;
};

/// An operation and the names that rules of a random table choose for it.
struct Names {
    TunedOperation operation;
    bool uniform;
    std::vector<std::string> algorithms;
};

struct TableShape {
    std::string scope;   // "mpi"
    std::string family;  // "open_mpi.tuned"
    std::string memory = "host";
    std::string protocol;  // of every choice
    std::vector<Names> names;
};

/// A rule without evidence, as a person writes it.
[[nodiscard]] Rule make_rule(TableShape const& shape, TunedOperation operation, std::string const& algorithm,
                             CountInterval ranks, ByteInterval bytes);
/// With the ids r0, r1 and so on.
[[nodiscard]] TuningTable table_of(std::vector<Rule> rules);

/// "ring", or "" for the default: what the consumer runs at a point.
using Reader = std::function<std::string(Point const&)>;
/// How the exported files of a table are read.
using MakeReader = std::function<Reader(TuningTable const&, std::vector<Lost>&)>;

/// 10,000 points of 20 random tables: beside the bounds of rules and anywhere. Sizes are multiples of the ranks.
void expect_agreement(TableShape const& shape, MakeReader const& make_reader);

}  // namespace dlmb::tuning
