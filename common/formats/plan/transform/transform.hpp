// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Transformations of a plan: the same bytes between the same ranks in other messages, or in another order. All but puts
// are functions from a rank's plan to a plan. What they decide, they decide by what all ranks of a step's group know,
// so that the plans of all ranks still fit together; bucket and fuse also by what waits for a step, which ranks may
// differ in.
//
//   bucket:BYTES  joins collectives of one phase until a bucket has BYTES (PyTorch DDP: add, then close)
//   fuse          joins collectives and exchanges of one phase without a limit
//   split:PARTS   cuts each operation into PARTS; what waited for it waits for all of them
//   overlap:PARTS cuts operations and computations into PARTS; part j waits only for part j of what it waited for
//   reorder       posts each operation before the computations that it does not wait for
//   puts          writes the blocks of exchanges and messages into the memory of their receivers, each with a signal
#pragma once

#include "common/formats/plan/plan.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb {

/// Joins consecutive steps of one phase, group, kind, element, reduction and root. That a step of a phase waits for the
/// one before it counts as the order of a queue; a bucket ends where another step waits for one of its steps, or where
/// it has `bytes`. Not exchanges, whose bytes differ from rank to rank, and packed rows only where they are allgathers
/// of whole blocks. Steps that pack, move and unpack stay together here and below.
[[nodiscard]] Plan bucket(Plan const& plan, Bytes bytes);
[[nodiscard]] Plan fuse(Plan const& plan);
/// Windows of messages and barriers stay whole. Parts are whole elements, or whole rows or blocks of what is packed; of
/// fewer than parts, some are left out. `parts` from 2.
[[nodiscard]] Plan split(Plan const& plan, std::uint64_t parts);
[[nodiscard]] Plan overlap(Plan const& plan, std::uint64_t parts);
/// Operations keep their order, and so do computations; a plan without any stays as it is.
[[nodiscard]] Plan reorder(Plan const& plan);
[[nodiscard]] bool computes(Plan const& plan);
/// `plans`: of all ranks. Collectives, exchanges that move rows or work in place, and windows of several messages stay
/// as they are.
/// Throws UsageError where blocks arrive in memory that other steps use, or not in the order in which they are sent.
[[nodiscard]] std::vector<Plan> with_puts(std::span<Plan const> plans);

struct Transform {
    enum class Kind : std::uint8_t { bucket, fuse, split, overlap, reorder, puts };
    Kind kind = Kind::fuse;
    std::uint64_t amount = 0;  // bytes of bucket, parts of split and overlap
    std::string text{};        // as given
};

/// "none", or names that follow each other: "bucket:25M,overlap". overlap alone is overlap:2. Throws UsageError.
[[nodiscard]] std::vector<Transform> parse_transforms(std::string_view text);

/// Why a transformation does nothing to plans with these operations; empty: it applies.
[[nodiscard]] std::string why_not_applicable(Transform const& transform, std::span<OperationUse const> operations);

/// Whether they have to see the plans of all ranks: to make them, or to prove that they still fit together.
[[nodiscard]] bool needs_all_ranks(std::span<Transform const> transforms);

/// One after the other. `plans`: of one rank, or of all where needs_all_ranks().
[[nodiscard]] std::vector<Plan> transformed(std::vector<Plan> plans, std::span<Transform const> transforms);

}  // namespace dlmb
