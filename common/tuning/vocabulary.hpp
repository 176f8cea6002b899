// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The words of a tuning table that are closed lists. Names of backends, methods and algorithms are not: they belong to
// whoever executes the choice.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dlmb::tuning {

/// What a rule chooses for. An Exchange is any all-to-all; a Send with its Recv is one sendrecv.
enum class TunedOperation : std::uint8_t { allreduce, reduce_scatter, allgather, broadcast, exchange, sendrecv };
inline constexpr std::array every_tuned_operation{TunedOperation::allreduce, TunedOperation::reduce_scatter,
                                                  TunedOperation::allgather, TunedOperation::broadcast,
                                                  TunedOperation::exchange,  TunedOperation::sendrecv};
[[nodiscard]] std::string_view name_of(TunedOperation operation);
[[nodiscard]] std::optional<TunedOperation> operation_named(std::string_view name);

/// What the bytes of an operation count. One per operation, so that equal numbers mean equal traffic.
///   buffer: the vector on one rank; total: the full result (allgather) or input (reduce_scatter);
///   rank_send: what one rank sends to all, itself included, mean over ranks; message: one message.
enum class SizeBasis : std::uint8_t { buffer, total, rank_send, message };
[[nodiscard]] SizeBasis basis_of(TunedOperation operation);
[[nodiscard]] std::string_view name_of(SizeBasis basis);

/// How the ranks of a communicator lie on nodes.
enum class Distribution : std::uint8_t { one_per_node, single_node };
[[nodiscard]] std::string_view name_of(Distribution distribution);
[[nodiscard]] std::optional<Distribution> distribution_named(std::string_view name);

/// Whether two ranks of a sendrecv share a node.
enum class Link : std::uint8_t { intra, inter };
[[nodiscard]] std::string_view name_of(Link link);
[[nodiscard]] std::optional<Link> link_named(std::string_view name);

/// chosen: better than the default, and confirmed; tie, no_gain: measured, and the default stays.
enum class RuleStatus : std::uint8_t { chosen, tie, no_gain };
[[nodiscard]] std::string_view name_of(RuleStatus status);
[[nodiscard]] std::optional<RuleStatus> status_named(std::string_view name);

/// As in dlmb::name_of(Element), name_of(MemoryKind) and name_of(Reduction), with what only other programs have: memory
/// "rocm" and reductions of the "user".
inline constexpr std::array<std::string_view, 8> element_words{"byte", "int32", "int64", "fp8",
                                                               "fp16", "bf16",  "fp32",  "fp64"};
inline constexpr std::array<std::string_view, 6> memory_words{"host", "pinned", "cuda", "managed", "nccl", "rocm"};
inline constexpr std::array<std::string_view, 5> reduction_words{"sum", "prod", "min", "max", "user"};

}  // namespace dlmb::tuning
