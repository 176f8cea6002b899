// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucc/collective.hpp"

#include "common/backends/ucc/check.hpp"

#include <fmt/core.h>

#include <optional>
#include <span>
#include <utility>
#include <variant>

namespace dlmb::ucc {
namespace {

/// Nothing: UCC does not reduce such numbers there. Its component ec/cpu has no fp16 (UCC 1.8, ec_cpu_reduce.c).
std::optional<ucc_datatype_t> reduced_type(Element element, MemoryKind kind) {
    switch (element) {
    case Element::byte:
        return UCC_DT_UINT8;
    case Element::int8:
        return UCC_DT_INT8;
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

/// UCC has calls of their own for collectives with shares.
ucc_coll_type_t type_of(Collective const& step) {
    bool const equal = step.shares.empty();
    switch (step.kind) {
    case OperationKind::all_reduce:
        return UCC_COLL_TYPE_ALLREDUCE;
    case OperationKind::reduce:
        return UCC_COLL_TYPE_REDUCE;
    case OperationKind::reduce_scatter:
        return equal ? UCC_COLL_TYPE_REDUCE_SCATTER : UCC_COLL_TYPE_REDUCE_SCATTERV;
    case OperationKind::all_gather:
        return equal ? UCC_COLL_TYPE_ALLGATHER : UCC_COLL_TYPE_ALLGATHERV;
    case OperationKind::gather:
        return equal ? UCC_COLL_TYPE_GATHER : UCC_COLL_TYPE_GATHERV;
    case OperationKind::scatter:
        return equal ? UCC_COLL_TYPE_SCATTER : UCC_COLL_TYPE_SCATTERV;
    default:
        return UCC_COLL_TYPE_BCAST;
    }
}

/// Data that is only moved is counted in bytes.
constexpr ucc_datatype_t moved = UCC_DT_UINT8;

/// Counts and displacements have 64 bits.
constexpr std::uint64_t wide = UCC_COLL_ARGS_FLAG_COUNT_64BIT | UCC_COLL_ARGS_FLAG_DISPLACEMENTS_64BIT;

}  // namespace

std::string why_not(Operation const& operation, MemoryKind kind) {
    auto const* step = std::get_if<Collective>(&operation);
    if (is_message(kind_of(operation))) {
        return "UCC has collectives only, no messages between two ranks";
    }
    if (has_signals(operation)) {
        return "UCC has collectives only, no one-sided accesses";
    }
    bool const reduces_it = step == nullptr || !reduces(step->kind) || reduced_type(step->element, kind);
    return reduces_it ? "" : fmt::format("UCC reduces no {} in {} memory", name_of(step->element), name_of(kind));
}

/// Fills in the arguments of a step.
struct ArgumentsOfStep {
    CollectiveRequest& call;
    Buffers const& buffers;
    std::uint64_t ranks;
    std::uint64_t group_rank;

    void operator()(Exchange const& step) const {
        call.args_.coll_type = UCC_COLL_TYPE_ALLTOALLV;
        call.args_.flags = wide;
        call.args_.src.info_v = blocks(step.send, step.send_buffer, call.send_);
        call.args_.dst.info_v = blocks(step.recv, step.recv_buffer, call.recv_);
    }
    void operator()(Collective const& step) const {
        OperationFacts const& facts = facts_of(step.kind);
        CollectiveSides const sides = sides_of(step, static_cast<Rank>(group_rank), ranks);
        ucc_datatype_t const type = facts.reduces ? *reduced_type(step.element, buffers.kind) : moved;
        Bytes const size = facts.reduces ? size_of(step.element) : 1;
        bool const is_broadcast = step.kind == OperationKind::broadcast;
        // In place UCC takes the whole buffer as destination and leaves the result in this rank's part of it.
        bool const result_in_whole = step.kind == OperationKind::reduce_scatter && sides.in_place;
        Region const& result = result_in_whole ? step.send : step.recv;
        Bytes const sent = facts.parts == PartSide::sent ? sides.part : step.bytes;
        Bytes const received = facts.parts == PartSide::received && !result_in_whole ? sides.part : step.bytes;
        call.args_.coll_type = type_of(step);
        call.args_.op = operation_of(step.reduction);
        call.args_.root = static_cast<std::uint64_t>(step.root);
        call.args_.flags = sides.in_place && !is_broadcast ? UCC_COLL_ARGS_FLAG_IN_PLACE : 0;
        call.args_.src.info = info(step.send, sent / size, type);
        if (!is_broadcast) {
            call.args_.dst.info = info(result, received / size, type);
        }
        if (step.shares.empty()) {
            return;
        }
        call.args_.flags |= wide;
        Shares const shares(step.bytes, ranks, step.shares);
        if (step.kind == OperationKind::scatter) {
            call.args_.src.info_v = parts(shares, step.send, size, type, call.send_);
        } else {
            call.args_.dst.info_v = parts(shares, result, size, type, call.recv_);
        }
    }
    void operator()(Barrier const& /*step*/) const { call.args_.coll_type = UCC_COLL_TYPE_BARRIER; }
    template <class Other>
    void operator()(Other const& /*step*/) const {}

private:
    [[nodiscard]] std::byte* address(Region const& region) const { return buffers.base[region.buffer] + region.offset; }
    [[nodiscard]] ucc_coll_buffer_info_t info(Region const& region, std::uint64_t count, ucc_datatype_t type) const {
        return {address(region), count, type, memory_of(buffers.kind)};
    }
    /// All ranks' parts, one behind the other from `region` on.
    [[nodiscard]] ucc_coll_buffer_info_v_t parts(Shares const& shares, Region const& region, Bytes size,
                                                 ucc_datatype_t type, CollectiveRequest::Blocks& parts) const {
        parts = {};
        for (Rank rank = 0; rank < static_cast<Rank>(ranks); ++rank) {
            parts.counts.push_back(shares.of(rank) / size);
            parts.displacements.push_back(shares.begin(rank) / size);
        }
        return {address(region), parts.counts.data(), parts.displacements.data(), type, memory_of(buffers.kind)};
    }
    [[nodiscard]] ucc_coll_buffer_info_v_t blocks(std::span<Block const> all, BufferId buffer,
                                                  CollectiveRequest::Blocks& blocks) const {
        blocks = {std::vector<std::uint64_t>(ranks, 0), std::vector<std::uint64_t>(ranks, 0)};
        for (Block const& block : all) {
            blocks.counts[static_cast<std::size_t>(block.peer)] = block.bytes;
            blocks.displacements[static_cast<std::size_t>(block.peer)] = block.offset;
        }
        return {buffers.base[buffer], blocks.counts.data(), blocks.displacements.data(), moved,
                memory_of(buffers.kind)};
    }
};

CollectiveRequest::CollectiveRequest(Operation const& operation, Buffers const& buffers, ucc_team_h team,
                                     std::size_t ranks, std::size_t group_rank)
    : team_(team) {
    args_.mask = UCC_COLL_ARGS_FIELD_FLAGS;
    std::visit(ArgumentsOfStep{*this, buffers, ranks, group_rank}, operation);
}

CollectiveRequest::CollectiveRequest(CollectiveRequest&& other) noexcept
    : args_(other.args_), team_(other.team_), request_(std::exchange(other.request_, nullptr)),
      persistent_(other.persistent_), send_(std::move(other.send_)), recv_(std::move(other.recv_)) {}

CollectiveRequest::~CollectiveRequest() {
    if (persistent_ && request_ != nullptr) {
        ucc_collective_finalize(request_);
    }
}

bool CollectiveRequest::prepare(bool persistent) {
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

void CollectiveRequest::start() {
    if (!persistent_) {
        check(ucc_collective_init(&args_, &request_, team_), "ucc_collective_init");
    }
    check(ucc_collective_post(request_), "ucc_collective_post");
}

bool CollectiveRequest::test() {
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
