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

/// Data that is only moved is counted in bytes.
constexpr ucc_datatype_t moved = UCC_DT_UINT8;

/// Counts and displacements have 64 bits.
constexpr std::uint64_t wide = UCC_COLL_ARGS_FLAG_COUNT_64BIT | UCC_COLL_ARGS_FLAG_DISPLACEMENTS_64BIT;

}  // namespace

std::string why_not(Operation const& operation, MemoryKind kind) {
    return std::visit(
        [kind](auto const& step) -> std::string {
            using Kind = std::decay_t<decltype(step)>;
            if constexpr (std::is_same_v<Kind, Send> || std::is_same_v<Kind, Recv>) {
                return "UCC has collectives only, no messages between two ranks";
            } else if constexpr (std::is_same_v<Kind, Put> || std::is_same_v<Kind, WaitSignal>) {
                return "UCC has collectives only, no one-sided writes";
            } else if constexpr (requires { step.reduction; }) {
                return reduced_type(step.element, kind)
                           ? ""
                           : fmt::format("UCC reduces no {} in {} memory", name_of(step.element), name_of(kind));
            } else {
                return "";
            }
        },
        operation);
}

/// Fills in the arguments of a step.
struct Describe {
    Collective& call;
    Buffers const& buffers;
    std::uint64_t ranks;
    std::uint64_t group_rank;

    void operator()(Exchange const& step) const {
        call.args_.coll_type = UCC_COLL_TYPE_ALLTOALLV;
        call.args_.flags = wide;
        call.args_.src.info_v = blocks(step.send, step.send_buffer, call.send_);
        call.args_.dst.info_v = blocks(step.recv, step.recv_buffer, call.recv_);
    }
    void operator()(AllReduce const& step) const {
        reduced(UCC_COLL_TYPE_ALLREDUCE, step, step.bytes, step.send == step.recv);
    }
    void operator()(Reduce const& step) const {
        call.args_.root = static_cast<std::uint64_t>(step.root);
        reduced(UCC_COLL_TYPE_REDUCE, step, step.bytes, is_root(step.root) && step.send == step.recv);
    }
    // In place UCC takes the whole buffer as destination and leaves the result in this rank's part of it.
    void operator()(ReduceScatter const& step) const {
        Shares const shares = shares_of(step);
        bool const in_place = address(step.recv) == address(step.send) + shares.begin(me());
        Bytes const size = size_of(step.element);
        reduced(UCC_COLL_TYPE_REDUCE_SCATTER, step, in_place ? step.bytes : shares.of(me()), in_place);
        call.args_.src.info.count = step.bytes / size;
        if (in_place) {
            call.args_.dst.info.buffer = address(step.send);
        }
        if (!step.shares.empty()) {
            call.args_.coll_type = UCC_COLL_TYPE_REDUCE_SCATTERV;
            call.args_.flags |= wide;
            call.args_.dst.info_v = parts(shares, in_place ? step.send : step.recv, size,
                                          *reduced_type(step.element, buffers.kind), call.recv_);
        }
    }
    void operator()(AllGather const& step) const {
        gathered(step, step.shares.empty() ? UCC_COLL_TYPE_ALLGATHER : UCC_COLL_TYPE_ALLGATHERV, true);
    }
    void operator()(Gather const& step) const {
        call.args_.root = static_cast<std::uint64_t>(step.root);
        gathered(step, step.shares.empty() ? UCC_COLL_TYPE_GATHER : UCC_COLL_TYPE_GATHERV, is_root(step.root));
    }
    void operator()(Scatter const& step) const {
        Shares const shares = shares_of(step);
        bool const in_place = is_root(step.root) && address(step.recv) == address(step.send) + shares.begin(me());
        call.args_.root = static_cast<std::uint64_t>(step.root);
        set(UCC_COLL_TYPE_SCATTER, info(step.send, step.bytes, moved), info(step.recv, shares.of(me()), moved),
            in_place);
        if (!step.shares.empty()) {
            call.args_.coll_type = UCC_COLL_TYPE_SCATTERV;
            call.args_.flags |= wide;
            call.args_.src.info_v = parts(shares, step.send, 1, moved, call.send_);
        }
    }
    void operator()(Barrier const& /*step*/) const { call.args_.coll_type = UCC_COLL_TYPE_BARRIER; }
    void operator()(Broadcast const& step) const {
        call.args_.root = static_cast<std::uint64_t>(step.root);
        set(UCC_COLL_TYPE_BCAST, info(step.data, step.bytes, moved), {}, false);
    }
    template <class Other>
    void operator()(Other const& /*step*/) const {}

private:
    [[nodiscard]] Rank me() const { return static_cast<Rank>(group_rank); }
    [[nodiscard]] bool is_root(Rank root) const { return root == me(); }
    template <class Step>
    [[nodiscard]] Shares shares_of(Step const& step) const {
        return {step.bytes, ranks, step.shares};
    }

    /// `result`: bytes of the destination.
    template <class Step>
    void reduced(ucc_coll_type_t type, Step const& step, Bytes result, bool in_place) const {
        Bytes const size = size_of(step.element);
        ucc_datatype_t const number = *reduced_type(step.element, buffers.kind);
        call.args_.op = operation_of(step.reduction);
        set(type, info(step.send, step.bytes / size, number), info(step.recv, result / size, number), in_place);
    }
    /// `has_all`: this rank gets all parts.
    template <class Step>
    void gathered(Step const& step, ucc_coll_type_t type, bool has_all) const {
        Shares const shares = shares_of(step);
        bool const in_place = has_all && address(step.send) == address(step.recv) + shares.begin(me());
        set(type, info(step.send, shares.of(me()), moved), info(step.recv, step.bytes, moved), in_place);
        if (!step.shares.empty()) {
            call.args_.flags |= wide;
            call.args_.dst.info_v = parts(shares, step.recv, 1, moved, call.recv_);
        }
    }
    void set(ucc_coll_type_t type, ucc_coll_buffer_info_t const& from, ucc_coll_buffer_info_t const& to,
             bool in_place) const {
        call.args_.coll_type = type;
        call.args_.src.info = from;
        call.args_.dst.info = to;
        call.args_.flags = in_place ? UCC_COLL_ARGS_FLAG_IN_PLACE : 0;
    }
    [[nodiscard]] std::byte* address(Region const& region) const { return buffers.base[region.buffer] + region.offset; }
    [[nodiscard]] ucc_coll_buffer_info_t info(Region const& region, std::uint64_t count, ucc_datatype_t type) const {
        return {address(region), count, type, memory_of(buffers.kind)};
    }
    /// All ranks' parts, one behind the other from `region` on.
    [[nodiscard]] ucc_coll_buffer_info_v_t parts(Shares const& shares, Region const& region, Bytes size,
                                                 ucc_datatype_t type, Collective::Blocks& parts) const {
        parts = {};
        for (Rank rank = 0; rank < static_cast<Rank>(ranks); ++rank) {
            parts.counts.push_back(shares.of(rank) / size);
            parts.displacements.push_back(shares.begin(rank) / size);
        }
        return {address(region), parts.counts.data(), parts.displacements.data(), type, memory_of(buffers.kind)};
    }
    [[nodiscard]] ucc_coll_buffer_info_v_t blocks(std::span<Block const> all, BufferId buffer,
                                                  Collective::Blocks& blocks) const {
        blocks = {std::vector<std::uint64_t>(ranks, 0), std::vector<std::uint64_t>(ranks, 0)};
        for (Block const& block : all) {
            blocks.counts[static_cast<std::size_t>(block.peer)] = block.bytes;
            blocks.displacements[static_cast<std::size_t>(block.peer)] = block.offset;
        }
        return {buffers.base[buffer], blocks.counts.data(), blocks.displacements.data(), moved,
                memory_of(buffers.kind)};
    }
};

Collective::Collective(Operation const& operation, Buffers const& buffers, ucc_team_h team, std::size_t ranks,
                       std::size_t group_rank)
    : team_(team) {
    args_.mask = UCC_COLL_ARGS_FIELD_FLAGS;
    std::visit(Describe{*this, buffers, ranks, group_rank}, operation);
}

Collective::Collective(Collective&& other) noexcept
    : args_(other.args_), team_(other.team_), request_(std::exchange(other.request_, nullptr)),
      persistent_(other.persistent_), send_(std::move(other.send_)), recv_(std::move(other.recv_)) {}

Collective::~Collective() {
    if (persistent_ && request_ != nullptr) {
        ucc_collective_finalize(request_);
    }
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
