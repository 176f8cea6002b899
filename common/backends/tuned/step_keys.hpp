// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The keys by which a chooser is asked about each step of a plan, and what ranks tell each other for that.
#pragma once

#include "common/backend_kit/chooser.hpp"
#include "common/bootstrap/bootstrap.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/formats/table/query.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace dlmb::tuned {

/// Collective. By rank; each rank may bring another number of values.
template <class Value>
[[nodiscard]] std::vector<std::vector<Value>> gather(Bootstrap& bootstrap, std::span<Value const> mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<std::vector<Value>> all;
    for (Blob const& blob : bootstrap.all_gather(std::as_bytes(mine))) {
        std::vector<Value>& values = all.emplace_back(blob.size() / sizeof(Value));
        if (!blob.empty()) {
            std::memcpy(values.data(), blob.data(), blob.size());
        }
    }
    return all;
}

/// The same on all ranks of a step, and so likely another for every other one that 2^20 steps collide once in 2^24
/// plans. A send and its receive have one.
using OperationKey = std::uint64_t;
inline constexpr OperationKey no_operation = 0;  // of Compute

/// By StepId.
[[nodiscard]] std::vector<OperationKey> operation_keys(Plan const& plan);

/// By world rank: the same number for ranks that share a node.
using NodeOfRank = std::vector<Rank>;
/// Collective.
[[nodiscard]] NodeOfRank nodes_of(Bootstrap& bootstrap);

/// Collective. By StepId; nothing: no table has rules for it. Where ranks know different things of a step (an
/// exchange), these are told to all.
[[nodiscard]] std::vector<std::optional<tuning::Key>> step_keys(Plan const& plan, MemoryKind memory,
                                                                NodeOfRank const& nodes, Bootstrap& bootstrap);

}  // namespace dlmb::tuned
