// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The plan: everything one rank sends and receives in one iteration, as a plain value. No library, no pointer, no
// communication: it can be printed, compared, proved consistent over all ranks and stored.
#pragma once

#include "common/base/names/operations.hpp"
#include "common/base/units.hpp"
#include "common/formats/plan/block_format.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dlmb {

using GroupId = std::uint32_t;   // index into Plan::groups
using BufferId = std::uint32_t;  // index into Plan::buffers
using StepId = std::uint32_t;    // index into Plan::steps

enum class Element : std::uint8_t { byte, int8, int32, int64, fp8, fp16, bf16, fp32, fp64 };
enum class Reduction : std::uint8_t { sum, prod, min, max };

[[nodiscard]] Bytes size_of(Element element);
[[nodiscard]] std::string_view name_of(Element element);
[[nodiscard]] std::string_view name_of(Reduction reduction);

/// Ordered world ranks; a rank's place in `members` is its rank in the group.
struct Group {
    std::vector<Rank> members;
    bool operator==(Group const&) const = default;
};

/// `shared`: steps overwrite each other's data in it, so what is delivered there cannot be checked (plans whose own
/// buffers would not fit in memory).
struct Buffer {
    std::string name;  // "dispatch.send"
    Bytes bytes = 0;
    bool shared = false;
    bool operator==(Buffer const&) const = default;
};

/// A place in a named buffer.
struct Region {
    BufferId buffer = 0;
    Bytes offset = 0;
    bool operator==(Region const&) const = default;
};

/// Bytes to or from one peer. `peer` is a rank of the step's group, `offset` is into the step's buffer.
struct Block {
    Rank peer = 0;
    Bytes offset = 0;
    Bytes bytes = 0;
    bool operator==(Block const&) const = default;
};

/// Row i of `rows` rows is at `first + i * stride` of a buffer.
struct RowPlaces {
    std::uint64_t rows = 0;
    Bytes first = 0;
    Bytes stride = 0;
    bool operator==(RowPlaces const&) const = default;
};

/// Where the rows of one side of an exchange are, in the order in which they travel. No run has rows of two blocks.
/// Rows that are sent may be named several times. Strides and places are multiples of 8 bytes.
struct ScatteredSide {
    std::vector<RowPlaces> runs = {};
    /// As those of a Rearrangement.
    std::vector<Bytes> origins = {};
    bool operator==(ScatteredSide const&) const = default;

    [[nodiscard]] std::uint64_t rows() const;
    /// The place of each row.
    [[nodiscard]] std::vector<Bytes> places() const;
};

/// Rows that are sent from where they lie in one tensor to where they belong in another one.
struct ScatteredRows {
    Bytes row_bytes = 0;
    ScatteredSide sent = {};
    ScatteredSide received = {};
    bool operator==(ScatteredRows const&) const = default;
};

/// Ragged all-to-all. Blocks are ordered by peer, at most one per peer, the self block included; zero blocks are
/// left out on both sides. An exchange with no block at all is legal and is issued. `scattered`: the rows of each block
/// lie apart, and the offset of a block counts the bytes that travel in the blocks before it. Both buffers may be one:
/// each block then arrives where the one to its sender was, on all ranks of the group.
struct Exchange {
    static constexpr OperationKind kind = OperationKind::exchange;
    GroupId group = 0;
    BufferId send_buffer = 0;
    BufferId recv_buffer = 0;
    std::vector<Block> send;
    std::vector<Block> recv;
    std::optional<ScatteredRows> scattered = std::nullopt;
    bool operator==(Exchange const&) const = default;
    /// A rank without blocks cannot tell, and does as the others do.
    [[nodiscard]] bool in_place() const {
        return send_buffer == recv_buffer && send == recv && !send.empty() && !scattered;
    }
};

/// Several messages of one Send or Recv, all in flight together: each has the bytes of the step's block and lies
/// `stride` bytes behind the one before. Stride 0: all are sent from one region and delivered to one region, and carry
/// the same payload. Otherwise the stride is a multiple of 8, at least the bytes of a message. Both ends say the same.
struct MessageWindow {
    Bytes messages = 1;
    Bytes stride = 0;
    bool operator==(MessageWindow const&) const = default;
    /// Bytes from the first message's first to the last message's last, of messages of `bytes`.
    [[nodiscard]] Bytes span(Bytes bytes) const { return (messages - 1) * stride + bytes; }
};

/// Point to point. `channel` separates streams between one pair of ranks; steps of the same `batch` (>= 0) are
/// posted in one native call; -1: on its own. `to`, `from`: of the first message of the window.
struct Send {
    static constexpr OperationKind kind = OperationKind::send;
    GroupId group = 0;
    BufferId buffer = 0;
    Block to;
    int channel = 0;
    int batch = -1;
    MessageWindow window = {};
    bool operator==(Send const&) const = default;
};
struct Recv {
    static constexpr OperationKind kind = OperationKind::recv;
    GroupId group = 0;
    BufferId buffer = 0;
    Block from;
    int channel = 0;
    int batch = -1;
    MessageWindow window = {};
    bool operator==(Recv const&) const = default;
};

/// A collective that moves data: from all_reduce to broadcast of OperationKind. facts_of(kind) tells which have a root,
/// reduce, or give each rank a part. `bytes` is the full logical buffer (with parts: the gathered, scattered or
/// unreduced size). `shares`: bytes of each group rank's part of it, one behind the other; none: equal parts. Parts are
/// whole elements. `root`: a rank in the group. What only the root has (the result of a reduce or gather, the input of
/// a scatter) is on the others the region that they do have; a broadcast has one region, which its root reads and the
/// others write.
struct Collective {
    OperationKind kind = OperationKind::all_reduce;
    GroupId group = 0;
    Rank root = 0;
    Region send = {};
    Region recv = {};
    Bytes bytes = 0;
    Element element = Element::byte;
    Reduction reduction = Reduction::sum;
    std::vector<Bytes> shares = {};
    bool operator==(Collective const&) const = default;
};
/// Nobody's is complete before everybody's has started.
struct Barrier {
    static constexpr OperationKind kind = OperationKind::barrier;
    GroupId group = 0;
    bool operator==(Barrier const&) const = default;
};

/// A flag in the memory of the receiving rank, raised behind the next `blocks` blocks of its step, all to or from
/// `peer`. The n-th signal that a rank sends another one is the n-th one that this waits for from it: a put's in a
/// wait_signal, an offer's in a get.
struct Signal {
    Rank peer = 0;
    std::uint32_t blocks = 0;
    bool operator==(Signal const&) const = default;
};

/// Signals, and the blocks of each; every block is of one signal and is a message.
/// put: one-sided writes, with the signals behind them. Block i goes to offset `targets[i]` of the buffer of the
/// WaitSignal that waits for its signal. The peer takes no part: its memory may be written from the moment when it has
/// begun the iteration. Complete when what it sends may be overwritten.
/// offer: the signals tell the peers that they may read the blocks; there are no targets. Complete when each peer has
/// said, by a flag in the memory of this rank, that it has read them.
struct Put {
    OperationKind kind = OperationKind::put;
    GroupId group = 0;
    BufferId buffer = 0;
    std::vector<Block> send = {};
    std::vector<Bytes> targets = {};
    std::vector<Signal> signals = {};
    bool operator==(Put const&) const = default;
};

/// wait_signal: complete when all signals are there, and so the blocks before each.
/// get: reads the blocks of each signal from the memory of the peer when the signal is there, and tells the peer.
/// Complete when all are read.
struct WaitSignal {
    OperationKind kind = OperationKind::wait_signal;
    GroupId group = 0;
    BufferId buffer = 0;
    std::vector<Block> recv = {};
    std::vector<Signal> signals = {};
    bool operator==(WaitSignal const&) const = default;
};

/// Whether the receiver reads the blocks: an offer, a get.
[[nodiscard]] constexpr bool is_read(OperationKind kind) {
    return kind == OperationKind::offer || kind == OperationKind::get;
}

/// Bytes of a flag: a counter of iterations. They are no payload.
inline constexpr Bytes flag_bytes = 8;

/// A matrix of rows x inner values times one of inner x columns (m, k and n of the BLAS).
struct ProductShape {
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;
    std::uint64_t inner = 0;
    bool operator==(ProductShape const&) const = default;
};

/// Rows of numbers that lie one behind the other, and the same rows packed.
struct RowBlock {
    std::uint64_t rows = 0;
    std::uint64_t row_numbers = 0;
    Bytes numbers = 0;  // offsets in the two buffers
    Bytes packed = 0;
    bool operator==(RowBlock const&) const = default;
};

enum class PackDirection : std::uint8_t { pack, unpack };
[[nodiscard]] std::string_view name_of(PackDirection direction);

enum class Processor : std::uint8_t { host, device };
[[nodiscard]] std::string_view name_of(Processor processor);

/// Numbers of `element` in one buffer to rows of `format` in another, or back. What is packed are the blocks of a step
/// that sends, all rows of each, what is unpacked those that one delivers.
struct Conversion {
    PackDirection direction = PackDirection::pack;
    BlockFormat format = {};
    Element element = Element::bf16;
    BufferId numbers = 0;
    BufferId packed = 0;
    std::vector<RowBlock> blocks = {};
    /// Where rows are also put in another order: who does that. Else whoever does what a plan computes.
    std::optional<Processor> by = std::nullopt;
    /// Where rows go to several ranks: the row of its owner's tensor that each one is, in the order of `blocks`.
    std::vector<std::uint64_t> origins = {};
    bool operator==(Conversion const&) const = default;

    [[nodiscard]] std::uint64_t rows() const;
    [[nodiscard]] Bytes number_bytes(RowBlock const& block) const {
        return block.rows * block.row_numbers * size_of(element);
    }
    [[nodiscard]] Bytes packed_bytes(RowBlock const& block) const {
        return block.rows * format.row_bytes(block.row_numbers);
    }
    /// Sums over all blocks.
    [[nodiscard]] Bytes number_bytes() const;
    [[nodiscard]] Bytes packed_bytes() const;
};

/// Row i of `rows` rows is copied from `from + i * from_stride` to `to + i * to_stride`: offsets in two buffers.
struct RowRun {
    std::uint64_t rows = 0;
    Bytes from = 0;
    Bytes to = 0;
    Bytes from_stride = 0;
    Bytes to_stride = 0;
    bool operator==(RowRun const&) const = default;
};

/// Rows of one buffer in another order in another buffer. What is packed are the blocks of an exchange, all rows of
/// each; what is unpacked are those or the parts of an all-gather. Offsets, strides and rows are multiples of 8 bytes.
struct Rearrangement {
    PackDirection direction = PackDirection::pack;
    Processor by = Processor::host;
    Bytes row_bytes = 0;
    BufferId from = 0;
    BufferId to = 0;
    std::vector<RowRun> runs = {};
    /// Where an owner sends rows to several ranks: the place of each row in the owner's buffer, in the order of the
    /// runs. Only the payload check reads it. Empty: every row goes to one rank.
    std::vector<Bytes> origins = {};
    bool operator==(Rearrangement const&) const = default;

    [[nodiscard]] std::uint64_t rows() const;
    [[nodiscard]] Bytes bytes() const { return rows() * row_bytes; }
};

/// `product`: such matrices are multiplied for that time, which takes cores and memory bandwidth from the transport.
/// Without it the host watches the clock. In between it serves the transport, as it does while a GPU computes;
/// `uninterrupted`: not before the time is over. `conversion`, `rearrangement`: work of its own, for as long as it
/// takes.
struct Compute {
    static constexpr OperationKind kind = OperationKind::compute;
    Nanoseconds busy_ns = 0;
    std::optional<ProductShape> product = std::nullopt;
    bool uninterrupted = false;
    std::optional<Conversion> conversion = std::nullopt;
    std::optional<Rearrangement> rearrangement = std::nullopt;
    bool operator==(Compute const&) const = default;
};

/// Bytes of a plain copy that reads and writes as much memory as the step needs to: numbers that are packed for several
/// ranks are read once. 0: it moves no data.
[[nodiscard]] Bytes copied_bytes(Compute const& step);
/// The processor that puts the rows of a step in another order; nullopt: the step keeps their order.
[[nodiscard]] std::optional<Processor> moved_by(Compute const& step);

using Operation = std::variant<Exchange, Send, Recv, Collective, Barrier, Put, WaitSignal, Compute>;

[[nodiscard]] OperationKind kind_of(Operation const& operation);
[[nodiscard]] std::string_view name_of(Operation const& operation);
[[nodiscard]] inline bool reduces(Operation const& operation) {
    return reduces(kind_of(operation));
}

/// Demands of a kind of traffic on a backend. `uniform`: every exchange has equal, packed blocks, every other operation
/// equal parts; no step names shares. `scattered`: exchanges name the places of their rows.
struct OperationUse {
    OperationKind kind = OperationKind::exchange;
    bool uniform = false;
    bool scattered = false;
    bool operator==(OperationUse const&) const = default;
};

/// One operation and the earlier steps it waits for. `label` is "phase" or "phase.suffix"; `microbatch` is -1 where
/// the step belongs to none.
struct Step {
    Operation operation;
    std::vector<StepId> after;
    std::string label;
    int microbatch = -1;
    bool operator==(Step const&) const = default;
};

/// The part of a label before the first dot: the unit in which times are reported.
[[nodiscard]] std::string_view phase_of(std::string_view label);

/// One rank's iteration. No step overwrites what an earlier step of the iteration delivered, shared buffers excepted.
struct Plan {
    Rank me = 0;
    std::vector<Group> groups;
    std::vector<Buffer> buffers;
    std::vector<Step> steps;
    bool operator==(Plan const&) const = default;
};

/// The group of a step; nothing for Compute.
[[nodiscard]] std::optional<GroupId> group_of(Operation const& operation);

/// The parts of all ranks in a gathered, scattered or unreduced buffer.
class Shares {
public:
    /// `uneven`: by group rank, is kept; empty: equal parts for `ranks`.
    Shares(Bytes bytes, Bytes ranks, std::span<Bytes const> uneven) : each_(bytes / ranks), uneven_(uneven) {}

    [[nodiscard]] Bytes of(Rank rank) const {
        return uneven_.empty() ? each_ : uneven_[static_cast<std::size_t>(rank)];
    }
    /// Where the part begins in the buffer.
    [[nodiscard]] Bytes begin(Rank rank) const;

private:
    Bytes each_;
    std::span<Bytes const> uneven_;
};

[[nodiscard]] inline Shares shares_of(Plan const& plan, Collective const& step) {
    return {step.bytes, plan.groups.at(step.group).members.size(), step.shares};
}

/// A collective as one rank of its group does it.
struct CollectiveSides {
    bool is_root = false;
    bool sends = true;  // reads `sent` bytes at its region `send`
    bool receives = true;
    Bytes sent = 0;  // 0 where it does not
    Bytes received = 0;
    Bytes part = 0;        // of this rank; of a collective without parts equal ones
    Bytes part_begin = 0;  // in the whole buffer
    /// Both regions are one, or the part is where it belongs in the whole: the form in place that libraries know.
    bool in_place = false;
};
/// `me`: rank in the group of `ranks` ranks.
[[nodiscard]] CollectiveSides sides_of(Collective const& step, Rank me, Bytes ranks);
/// The sides of the plan's rank, which is in the group.
[[nodiscard]] CollectiveSides sides_of(Plan const& plan, Collective const& step);

/// The blocks of a collective in which each rank gets what it needs from the ranks that have it: its own block too,
/// unless that is in place already, and none of 0 bytes. Operands of a reduction have one place on the rank that gets
/// them: a rank's blocks may overlap.
[[nodiscard]] Exchange direct_blocks(Plan const& plan, Collective const& step);

/// Calls use(BufferId&) for the buffers that a step sends from or delivers to; not for a Compute.
template <class Step, class Use>
void for_each_buffer(Step& step, Use const& use) {
    if constexpr (requires { step.recv_buffer; }) {
        use(step.send_buffer);
        use(step.recv_buffer);
    } else if constexpr (requires { step.buffer; }) {
        use(step.buffer);
    } else if constexpr (requires { step.send.buffer; }) {
        use(step.send.buffer);
        use(step.recv.buffer);
    }
}

/// Rank in a group -> world rank.
[[nodiscard]] Rank world_rank(Plan const& plan, GroupId group, Rank peer);

/// The blocks that an Exchange, a Send or a Put sends, and that an Exchange, a Recv or a WaitSignal receives; none for
/// other operations. A window is one block, with as many messages as messages_of_block() says.
[[nodiscard]] std::span<Block const> sent_blocks(Operation const& operation);
[[nodiscard]] std::span<Block const> received_blocks(Operation const& operation);
/// 1 but for windows.
[[nodiscard]] Bytes messages_of_block(Operation const& operation);
/// The signals of a Put or a WaitSignal; none for other operations.
[[nodiscard]] std::span<Signal const> signals_of(Operation const& operation);
/// Whether it is a Put or a WaitSignal, or any step is.
[[nodiscard]] bool has_signals(Operation const& operation);
[[nodiscard]] bool has_signals(Plan const& plan);
/// Calls use(signal, its blocks, the number of the first one) for each signal of such a step.
template <class Use>
void for_each_signal(std::span<Signal const> signals, std::span<Block const> blocks, Use const& use) {
    std::size_t first = 0;
    for (Signal const& signal : signals) {
        use(signal, blocks.subspan(first, signal.blocks), first);
        first += signal.blocks;
    }
}

/// The names of element types that people write: ours, C's and those of OSU and nccl-tests.
inline constexpr char const* element_names =
    "byte (uint8), int8 (char), int32 (int), int64, fp8 (fp8e4m3), fp16 (half), bf16 (bfloat16), fp32 (float), "
    "fp64 (double)";

/// Nothing for a name that is not in element_names.
[[nodiscard]] std::optional<Element> element_named(std::string_view name);

/// Equal blocks that lie one behind the other: what libraries' equal-split all-to-all takes.
struct Packed {
    Bytes offset = 0;       // of the first block
    Bytes block_bytes = 0;  // of each
};

/// Nothing unless `blocks` are one for each of `members` ranks, equal and adjacent. No blocks at all are packed blocks
/// of 0 bytes.
[[nodiscard]] std::optional<Packed> packed(std::span<Block const> blocks, std::size_t members);

}  // namespace dlmb
