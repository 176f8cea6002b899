// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucc/collective.hpp"

#include "common/backends/ucc/check.hpp"

#include <fmt/core.h>

#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

namespace dlmb::ucc {
namespace {

/// Nothing: UCC does not reduce such numbers there. Its component ec/cpu has no fp16 (UCC 1.8, ec_cpu_reduce.c).
std::optional<ucc_datatype_t> reduced_type(Element element, MemoryKind kind) {
    switch (element) {
    case Element::byte:
        return UCC_DT_UINT8;
    case Element::int32:
        return UCC_DT_INT32;
    case Element::int64:
        return UCC_DT_INT64;
    case Element::fp16:
        return on_device(kind) ? std::optional(UCC_DT_FLOAT16) : std::nullopt;
    case Element::bf16:
        return UCC_DT_BFLOAT16;
    case Element::fp32:
        return UCC_DT_FLOAT32;
    case Element::fp64:
        return UCC_DT_FLOAT64;
    case Element::fp8:
        break;
    }
    return std::nullopt;
}

ucc_reduction_op_t operation_of(Reduction reduction) {
    switch (reduction) {
    case Reduction::sum:
        return UCC_OP_SUM;
    case Reduction::prod:
        return UCC_OP_PROD;
    case Reduction::min:
        return UCC_OP_MIN;
    case Reduction::max:
        break;
    }
    return UCC_OP_MAX;
}

ucc_memory_type_t memory_of(MemoryKind kind) {
    switch (kind) {
    case MemoryKind::cuda:
        return UCC_MEMORY_TYPE_CUDA;
    case MemoryKind::managed:
        return UCC_MEMORY_TYPE_CUDA_MANAGED;
    default:
        return UCC_MEMORY_TYPE_HOST;
    }
}

std::byte* address(Region const& region, Buffers const& buffers) {
    return buffers.base[region.buffer] + region.offset;
}

ucc_coll_buffer_info_t info(void* buffer, std::uint64_t count, ucc_datatype_t type, MemoryKind kind) {
    return {buffer, count, type, memory_of(kind)};
}

/// What is only moved is counted in bytes.
constexpr ucc_datatype_t moved = UCC_DT_UINT8;

}  // namespace

std::string why_not(Operation const& operation, MemoryKind kind) {
    return std::visit(
        [kind](auto const& step) -> std::string {
            using Kind = std::decay_t<decltype(step)>;
            if constexpr (std::is_same_v<Kind, Send> || std::is_same_v<Kind, Recv>) {
                return "UCC has collectives only, no messages between two ranks";
            } else if constexpr (std::is_same_v<Kind, AllReduce> || std::is_same_v<Kind, ReduceScatter>) {
                return reduced_type(step.element, kind)
                           ? ""
                           : fmt::format("UCC reduces no {} in {} memory", name_of(step.element), name_of(kind));
            } else {
                return "";
            }
        },
        operation);
}

Collective::Collective(Operation const& operation, Buffers const& buffers, ucc_team_h team, std::size_t ranks,
                       std::size_t group_rank)
    : team_(team) {
    args_.mask = UCC_COLL_ARGS_FIELD_FLAGS;
    std::visit(
        [&](auto const& step) {
            if constexpr (requires { describe(step, buffers); }) {
                describe(step, buffers);
            } else if constexpr (requires { describe(step, buffers, ranks); }) {
                describe(step, buffers, ranks);
            } else if constexpr (requires { describe(step, buffers, ranks, group_rank); }) {
                describe(step, buffers, ranks, group_rank);
            }
        },
        operation);
}

Collective::Collective(Collective&& other) noexcept
    : args_(other.args_), team_(other.team_), request_(std::exchange(other.request_, nullptr)),
      persistent_(other.persistent_), send_(std::move(other.send_)), recv_(std::move(other.recv_)) {}

Collective::~Collective() {
    if (persistent_ && request_ != nullptr) {
        ucc_collective_finalize(request_);
    }
}

void Collective::describe(Exchange const& step, Buffers const& buffers, std::size_t ranks) {
    auto const fill = [&](Blocks& blocks, std::span<Block const> all) {
        blocks = {std::vector<std::uint64_t>(ranks, 0), std::vector<std::uint64_t>(ranks, 0)};
        for (Block const& block : all) {
            blocks.counts[static_cast<std::size_t>(block.peer)] = block.bytes;
            blocks.displacements[static_cast<std::size_t>(block.peer)] = block.offset;
        }
    };
    fill(send_, step.send);
    fill(recv_, step.recv);
    auto const info_v = [&](BufferId buffer, Blocks& blocks) {
        return ucc_coll_buffer_info_v_t{buffers.base[buffer], blocks.counts.data(), blocks.displacements.data(), moved,
                                        memory_of(buffers.kind)};
    };
    args_.coll_type = UCC_COLL_TYPE_ALLTOALLV;
    args_.flags = UCC_COLL_ARGS_FLAG_COUNT_64BIT | UCC_COLL_ARGS_FLAG_DISPLACEMENTS_64BIT;
    args_.src.info_v = info_v(step.send_buffer, send_);
    args_.dst.info_v = info_v(step.recv_buffer, recv_);
}

void Collective::describe(AllReduce const& step, Buffers const& buffers) {
    std::uint64_t const count = step.bytes / size_of(step.element);
    ucc_datatype_t const type = *reduced_type(step.element, buffers.kind);
    args_.coll_type = UCC_COLL_TYPE_ALLREDUCE;
    args_.op = operation_of(step.reduction);
    args_.src.info = info(address(step.send, buffers), count, type, buffers.kind);
    args_.dst.info = info(address(step.recv, buffers), count, type, buffers.kind);
    args_.flags = step.send == step.recv ? UCC_COLL_ARGS_FLAG_IN_PLACE : 0;
}

// In place UCC takes the whole buffer as destination and leaves the result in this rank's part of it.
void Collective::describe(ReduceScatter const& step, Buffers const& buffers, std::size_t ranks,
                          std::size_t group_rank) {
    std::uint64_t const count = step.bytes / size_of(step.element);
    ucc_datatype_t const type = *reduced_type(step.element, buffers.kind);
    std::byte* const send = address(step.send, buffers);
    std::byte* const recv = address(step.recv, buffers);
    bool const in_place = recv == send + step.bytes / ranks * group_rank;
    args_.coll_type = UCC_COLL_TYPE_REDUCE_SCATTER;
    args_.op = operation_of(step.reduction);
    args_.src.info = info(send, count, type, buffers.kind);
    args_.dst.info = in_place ? args_.src.info : info(recv, count / ranks, type, buffers.kind);
    args_.flags = in_place ? UCC_COLL_ARGS_FLAG_IN_PLACE : 0;
}

void Collective::describe(AllGather const& step, Buffers const& buffers, std::size_t ranks, std::size_t group_rank) {
    Bytes const share = step.bytes / ranks;
    std::byte* const send = address(step.send, buffers);
    std::byte* const recv = address(step.recv, buffers);
    args_.coll_type = UCC_COLL_TYPE_ALLGATHER;
    args_.src.info = info(send, share, moved, buffers.kind);
    args_.dst.info = info(recv, step.bytes, moved, buffers.kind);
    args_.flags = send == recv + share * group_rank ? UCC_COLL_ARGS_FLAG_IN_PLACE : 0;
}

void Collective::describe(Broadcast const& step, Buffers const& buffers) {
    args_.coll_type = UCC_COLL_TYPE_BCAST;
    args_.root = static_cast<std::uint64_t>(step.root);
    args_.src.info = info(address(step.data, buffers), step.bytes, moved, buffers.kind);
}

bool Collective::prepare(bool persistent) {
    args_.flags |= persistent ? UCC_COLL_ARGS_FLAG_PERSISTENT : 0;
    ucc_status_t const status = ucc_collective_init(&args_, &request_, team_);
    if (status == UCC_ERR_NOT_SUPPORTED) {
        request_ = nullptr;
        return false;
    }
    check(status, "ucc_collective_init");
    persistent_ = persistent;
    if (!persistent) {
        check(ucc_collective_finalize(std::exchange(request_, nullptr)), "ucc_collective_finalize");
    }
    return true;
}

void Collective::start() {
    if (!persistent_) {
        check(ucc_collective_init(&args_, &request_, team_), "ucc_collective_init");
    }
    check(ucc_collective_post(request_), "ucc_collective_post");
}

bool Collective::test() {
    ucc_status_t const status = ucc_collective_test(request_);
    if (status == UCC_INPROGRESS) {
        return false;
    }
    check(status, "ucc_collective_test");
    if (!persistent_) {
        check(ucc_collective_finalize(std::exchange(request_, nullptr)), "ucc_collective_finalize");
    }
    return true;
}

}  // namespace dlmb::ucc
