// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Tensors and reductions of PyTorch as DLMB's operations take them: what is refused, types, and tensors whose elements
// lie one behind the other. What is refused throws c10::Error, a RuntimeError in Python, that begins with
// "dlmb: OPERATION: ".
#pragma once

#include "common/formats/plan/plan.hpp"

#include <ATen/core/Tensor.h>
#include <optional>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <vector>

namespace dlmb::torch {

using Tensors = std::vector<at::Tensor>;

/// Throws unless DLMB can read and write it.
void require_host(at::Tensor const& tensor, char const* operation);
/// Throws unless `whole` is `ranks` times as long as `part`, both on the host and of one type.
void require_parts(at::Tensor const& whole, at::Tensor const& part, int ranks, char const* operation);
void require_reducible(at::Tensor const& tensor, c10d::ReduceOp const& reduction, char const* operation);

/// The one tensor of this process. Throws where there is another number.
at::Tensor& only(Tensors& tensors, char const* operation);
/// The one list. Throws unless it has `size` tensors like `like`, one per rank.
Tensors& only(std::vector<Tensors>& lists, std::size_t size, at::Tensor const& like, char const* operation);

[[nodiscard]] Bytes bytes_of(at::Tensor const& tensor);
/// Nothing for types that DLMB does not reduce.
[[nodiscard]] std::optional<Element> element_of(at::ScalarType type);
/// For operations that only move data: types that DLMB has no name for are bytes.
[[nodiscard]] Element moved_as(at::ScalarType type);
/// That of AVG is the sum.
[[nodiscard]] std::optional<Reduction> reduction_of(c10d::ReduceOp const& reduction);
/// Divides a sum by `ranks` where AVG was asked for.
void average(at::Tensor const& sum, c10d::ReduceOp const& reduction, int ranks);

/// Its elements one behind the other: itself, or a copy, which deliver() brings back.
[[nodiscard]] at::Tensor packed(at::Tensor const& tensor);
void deliver(at::Tensor const& packed, at::Tensor const& tensor);
/// All elements of all tensors one behind the other, and back.
[[nodiscard]] at::Tensor joined(Tensors const& tensors);
void deliver_parts(at::Tensor const& flat, Tensors const& tensors);

}  // namespace dlmb::torch
