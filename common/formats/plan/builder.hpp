// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Lays blocks out in named buffers. Receive blocks get a gap of untouched bytes around them, which the payload check
// reads as guard bands (equal blocks, which libraries take packed, one gap around all); every phase has its own
// buffers.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <array>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dlmb {

/// A buffer of which each rank of a group has a part: equal parts, or those of `shares`, by group rank.
struct SharedBytes {
    SharedBytes(Bytes total) : bytes(total) {}  // NOLINT(google-explicit-constructor): the usual case
    explicit SharedBytes(std::vector<Bytes> parts)
        : bytes(std::accumulate(parts.begin(), parts.end(), Bytes{0})), shares(std::move(parts)) {}

    Bytes bytes;
    std::vector<Bytes> shares;
};

/// Numbers of `element` that travel as rows of `format`.
struct Packing {
    BlockFormat format;
    Element element = Element::bf16;
};

/// Rows of `numbers` numbers each.
struct PackedRowShape {
    Packing packing;
    std::uint64_t numbers = 0;
};

/// Rows of a tensor and the same rows as they travel. Row i of `rows` is row `tensor + i * tensor_step` of the tensor
/// and row `packed + i * packed_step` of all that travel, those of group rank 0 first. All are of one rank.
struct RowMove {
    std::uint64_t rows = 1;
    std::uint64_t tensor = 0;
    std::uint64_t packed = 0;
    std::uint64_t tensor_step = 1;
    std::uint64_t packed_step = 1;
};

/// `moves` name every row that travels once; none: rows lie as they travel, and no step moves them. `origins`: which
/// row of its owner's tensor each row is, in the order of `moves`, where owners send one row to several ranks (then on
/// all ranks); else empty.
struct RowOrder {
    std::uint64_t tensor_rows = 0;
    std::vector<std::uint64_t> rank_rows;  // to or from each group rank
    std::vector<RowMove> moves;
    std::vector<std::uint64_t> origins = {};
};

/// Bytes of a block and their place in the buffer of the rank that they go to.
struct PlacedBytes {
    Bytes offset = 0;
    Bytes bytes = 0;
};

class PlanBuilder {
public:
    explicit PlanBuilder(Rank me) { plan_.me = me; }

    GroupId group(Group group);  // the same members give the same id

    // Settings for the steps that are added from now on.
    /// Collectives work in place, where libraries know such a form (all but broadcast; reduce, gather and scatter at
    /// their root).
    void in_place(bool on) { in_place_ = on; }
    /// Steps lie in a few buffers that they overwrite in turn and that are not checked. All ranks of a step must agree.
    void share_buffers(bool on) { shared_ = on; }
    void microbatch(int number) { microbatch_ = number; }

    /// `send_bytes[p]`, `recv_bytes[p]`: bytes to and from group rank p; zeros leave no block. Makes buffers
    /// "<label>.send" and "<label>.recv".
    StepId exchange(GroupId group, std::span<Bytes const> send_bytes, std::span<Bytes const> recv_bytes,
                    std::string label, std::vector<StepId> after = {});
    /// `bytes[p]`: to and from group rank p. Every block is replaced by the one that comes for it. Makes one buffer,
    /// "<label>.data".
    StepId exchange_in_place(GroupId group, std::span<Bytes const> bytes, std::string label,
                             std::vector<StepId> after = {});
    /// `step` but for its regions. Makes buffers "<label>.send" and "<label>.recv", of a broadcast "<label>.data".
    StepId collective(Collective step, std::string label, std::vector<StepId> after = {});
    StepId all_reduce(GroupId group, Bytes bytes, Element element, Reduction reduction, std::string label,
                      std::vector<StepId> after = {}) {
        return collective({OperationKind::all_reduce, group, 0, {}, {}, bytes, element, reduction}, std::move(label),
                          std::move(after));
    }
    StepId reduce(GroupId group, Rank root, Bytes bytes, Element element, Reduction reduction, std::string label,
                  std::vector<StepId> after = {}) {
        return collective({OperationKind::reduce, group, root, {}, {}, bytes, element, reduction}, std::move(label),
                          std::move(after));
    }
    StepId reduce_scatter(GroupId group, SharedBytes unreduced, Element element, Reduction reduction, std::string label,
                          std::vector<StepId> after = {}) {
        return collective({OperationKind::reduce_scatter,
                           group,
                           0,
                           {},
                           {},
                           unreduced.bytes,
                           element,
                           reduction,
                           std::move(unreduced.shares)},
                          std::move(label), std::move(after));
    }
    StepId all_gather(GroupId group, SharedBytes gathered, Element element, std::string label,
                      std::vector<StepId> after = {}) {
        return collective(
            {OperationKind::all_gather, group, 0, {}, {}, gathered.bytes, element, {}, std::move(gathered.shares)},
            std::move(label), std::move(after));
    }
    StepId gather(GroupId group, Rank root, SharedBytes gathered, Element element, std::string label,
                  std::vector<StepId> after = {}) {
        return collective(
            {OperationKind::gather, group, root, {}, {}, gathered.bytes, element, {}, std::move(gathered.shares)},
            std::move(label), std::move(after));
    }
    StepId scatter(GroupId group, Rank root, SharedBytes scattered, Element element, std::string label,
                   std::vector<StepId> after = {}) {
        return collective(
            {OperationKind::scatter, group, root, {}, {}, scattered.bytes, element, {}, std::move(scattered.shares)},
            std::move(label), std::move(after));
    }
    StepId broadcast(GroupId group, Rank root, Bytes bytes, Element element, std::string label,
                     std::vector<StepId> after = {}) {
        return collective({OperationKind::broadcast, group, root, {}, {}, bytes, element}, std::move(label),
                          std::move(after));
    }
    /// Steps "pack.<label>", "<label>" and "unpack.<label>", one after the other; the last one. Buffers
    /// "pack.<label>.numbers" and "unpack.<label>.numbers" hold what is packed and what was unpacked. Never in place.
    /// `send_rows[p]`, `recv_rows[p]`: rows of `row_numbers` numbers to and from group rank p.
    StepId packed_exchange(GroupId group, std::span<std::uint64_t const> send_rows,
                           std::span<std::uint64_t const> recv_rows, std::uint64_t row_numbers, Packing packing,
                           std::string const& label, std::vector<StepId> after = {});
    /// Gathers one row of each rank: `numbers[p]` numbers of group rank p.
    StepId packed_all_gather(GroupId group, std::span<std::uint64_t const> numbers, Packing packing,
                             std::string const& label, std::vector<StepId> after = {});
    /// Steps "pack.<label>", "<label>" and "unpack.<label>", one after the other; the last one. Buffers
    /// "pack.<label>.rows" and "unpack.<label>.rows" are the tensors. `row_bytes`: a multiple of 8.
    StepId rearranged_exchange(GroupId group, RowOrder const& sent, RowOrder const& received, Bytes row_bytes,
                               Processor by, std::string const& label, std::vector<StepId> after = {});
    /// The same, and the steps that move rows also pack and unpack their numbers, in one pass over both. Both orders
    /// have moves.
    StepId rearranged_exchange(GroupId group, RowOrder const& sent, RowOrder const& received, PackedRowShape const& row,
                               Processor by, std::string const& label, std::vector<StepId> after = {});
    /// Steps "<label>" and "unpack.<label>", one after the other; the last one. Buffer "unpack.<label>.rows" is the
    /// tensor that all ranks' rows become. Never in place. Every rank has equally many rows, of whole elements.
    StepId rearranged_all_gather(GroupId group, RowOrder const& gathered, Bytes row_bytes, Element element,
                                 Processor by, std::string const& label, std::vector<StepId> after = {});
    /// One step that does what the three of rearranged_exchange() do. Buffers "<label>.send" and "<label>.recv" are the
    /// tensors.
    StepId scattered_exchange(GroupId group, RowOrder const& sent, RowOrder const& received, Bytes row_bytes,
                              std::string label, std::vector<StepId> after = {});
    StepId barrier(GroupId group, std::string label, std::vector<StepId> after = {});
    /// `bytes`: of each message of the window.
    StepId send(GroupId group, Rank to, Bytes bytes, int channel, int batch, std::string label,
                std::vector<StepId> after = {}, MessageWindow window = {});
    StepId recv(GroupId group, Rank from, Bytes bytes, int channel, int batch, std::string label,
                std::vector<StepId> after = {}, MessageWindow window = {});
    /// `blocks`: those of each signal in turn. They lie one behind the other in buffer "<label>.send". Their places are
    /// those at the peers; of an offer (`kind`) they mean nothing.
    StepId put(GroupId group, std::vector<Signal> signals, std::span<PlacedBytes const> blocks, std::string label,
               std::vector<StepId> after = {}, OperationKind kind = OperationKind::put);
    /// Buffer "<label>.recv" has at least `buffer_bytes`, and a guard band behind the last block.
    StepId wait_signal(GroupId group, std::vector<Signal> signals, std::span<PlacedBytes const> blocks,
                       Bytes buffer_bytes, std::string label, std::vector<StepId> after = {},
                       OperationKind kind = OperationKind::wait_signal);
    StepId compute(Nanoseconds busy_ns, std::string label, std::vector<StepId> after = {},
                   std::optional<ProductShape> product = std::nullopt, bool uninterrupted = false);

    [[nodiscard]] Plan finish() && { return std::move(plan_); }

private:
    Rank group_size(GroupId group) const;
    /// A step that converts `blocks`, whose places in the packed buffer are known.
    StepId convert(PackDirection direction, Packing packing, BufferId packed, std::vector<RowBlock> blocks,
                   std::string const& label, std::vector<StepId> after);
    /// A step that copies between a tensor of its own and the blocks that travel in `packed`.
    StepId rearrange(PackDirection direction, Processor by, RowOrder const& order, Bytes row_bytes, BufferId packed,
                     std::span<Block const> blocks, std::string const& label, std::vector<StepId> after);
    StepId rearrange_packed(PackDirection direction, Processor by, RowOrder const& order, PackedRowShape const& row,
                            BufferId packed, std::span<Block const> blocks, std::string const& label,
                            std::vector<StepId> after);
    /// Adds the exchange of rows that travel in `row_bytes` behind the step that add_pack(placed, after) adds.
    template <class AddPack>
    Exchange exchange_behind(GroupId group, std::span<std::uint64_t const> send_rows,
                             std::span<std::uint64_t const> recv_rows, Bytes row_bytes, std::string const& label,
                             AddPack const& add_pack);
    enum class Role : std::uint8_t { sent, delivered };

    BufferId buffer(std::string name, Bytes bytes, Role role);
    BufferId shared_buffer(Bytes bytes, Role role);
    Region region(std::string name, Bytes bytes, Role role);
    StepId add_step(Operation operation, std::vector<StepId> after, std::string label);

    Plan plan_;
    bool in_place_ = false;
    bool shared_ = false;
    int microbatch_ = -1;
    std::array<std::vector<BufferId>, 2> shared_buffers_;  // by Role: used in turn
    std::array<std::size_t, 2> next_shared_{};
};

/// Which steps of a large iteration have buffers of their own. An iteration of a whole model moves more than fits in
/// memory, and frameworks reuse their buffers, too; but what lies in a reused buffer cannot be checked afterwards.
/// Asked in the same order with the same sizes it gives the same answers, so all ranks of a step agree on them.
class BufferBudget {
public:
    explicit BufferBudget(Bytes limit) : left_(limit) {}

    /// Takes `bytes`; false: they do not fit, and from here on nothing does.
    [[nodiscard]] bool take(Bytes bytes) {
        exhausted_ = exhausted_ || bytes > left_;
        left_ -= exhausted_ ? 0 : bytes;
        return !exhausted_;
    }

private:
    Bytes left_;
    bool exhausted_ = false;
};

/// Bytes of untouched memory before, between and after receive blocks; also the alignment of blocks that are not
/// packed.
inline constexpr Bytes guard_bytes = 64;

}  // namespace dlmb
