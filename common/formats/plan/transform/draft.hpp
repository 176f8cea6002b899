// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Drafts, which transformations work on: the steps of a plan without places in buffers.
#pragma once

#include "common/formats/plan/builder.hpp"
#include "common/formats/plan/plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlmb {

/// The rows of an exchange or an allgather that stands between a step that packs and one that unpacks.
struct PackedRows {
    Packing packing;
    std::uint64_t row_numbers = 1;        // of an exchange: numbers in each row
    std::vector<std::uint64_t> sent;      // by group rank. Exchange: rows there. Allgather: the numbers of that rank
    std::vector<std::uint64_t> received;  // exchange: rows from there
};

/// A step, or three that pack, move and unpack. Places are given anew, by lay_out_all().
struct Draft {
    Operation operation;
    std::vector<StepId> after;  // places in the list of drafts
    std::string label;
    int microbatch = -1;
    bool in_place = false;
    bool shared = false;
    std::optional<PackedRows> rows{};
    std::optional<StepId> packs_after{};  // with rows: an earlier draft whose rows are packed first
};

[[nodiscard]] std::vector<Draft> drafts_of(Plan const& plan);

/// A plan of these steps, with the groups of `plan`.
[[nodiscard]] Plan lay_out_all(Plan const& plan, std::vector<Draft> const& drafts);

}  // namespace dlmb
