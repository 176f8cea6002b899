// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/builder.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

namespace dlmb {
namespace {

enum class Guard { none, around_each, around_all };

/// Places regions one after the other in one buffer, with untouched bytes where the guard says.
class BufferLayout {
public:
    explicit BufferLayout(Guard guard, bool packed = false) : guard_(guard), packed_(packed) {}

    Bytes place(Bytes bytes) {
        bool const gap = guard_ == Guard::around_each || (guard_ == Guard::around_all && end_ == 0);
        Bytes const offset = packed_ && end_ != 0 ? end_ : aligned(end_ + (gap ? guard_bytes : 0));
        constexpr Bytes most = std::numeric_limits<Bytes>::max() - 2 * guard_bytes;
        if (offset > most || bytes > most - offset) {
            throw Error(fmt::format("plan builder: a block of {} B at offset {} ends above 2^64", bytes, offset));
        }
        end_ = offset + bytes;
        return offset;
    }
    [[nodiscard]] Bytes size() const { return aligned(end_ + (guard_ == Guard::none ? 0 : guard_bytes)); }

private:
    static Bytes aligned(Bytes offset) { return (offset + guard_bytes - 1) / guard_bytes * guard_bytes; }

    Guard guard_;
    bool packed_;  // no byte lies between regions
    Bytes end_ = 0;
};

/// Equal blocks lie packed, as in the tensors that frameworks hand to an equal-split all-to-all: only then can a
/// backend use MPI_Alltoall or ncclAlltoAll. An overrun into the next block is seen by that block's own check.
bool are_equal(std::span<Bytes const> bytes) {
    return std::adjacent_find(bytes.begin(), bytes.end(), std::not_equal_to<>{}) == bytes.end();
}

std::vector<Block> blocks(std::span<Bytes const> bytes, BufferLayout& layout) {
    std::vector<Block> placed;
    placed.reserve(bytes.size() - static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), Bytes{0})));
    for (std::size_t peer = 0; peer < bytes.size(); ++peer) {
        if (bytes[peer] != 0) {
            placed.push_back({static_cast<Rank>(peer), layout.place(bytes[peer]), bytes[peer]});
        }
    }
    return placed;
}

/// One behind the other, as their rows travel.
std::vector<Block> travelling_blocks(RowOrder const& order, Bytes row_bytes) {
    std::vector<Block> placed;
    Bytes offset = 0;
    for (std::size_t peer = 0; peer < order.rank_rows.size(); ++peer) {
        Bytes const bytes = order.rank_rows[peer] * row_bytes;
        if (bytes != 0) {
            placed.push_back({static_cast<Rank>(peer), offset, bytes});
        }
        offset += bytes;
    }
    return placed;
}

/// Of each row that travels, which row of the tensor it is, and which one of its owner's.
struct TravellingRows {
    std::vector<std::uint64_t> tensor;
    std::vector<std::uint64_t> origins;  // empty: as in the order
};

/// Throws Error unless the moves name every row that travels once.
TravellingRows rows_as_they_travel(RowOrder const& order, std::string_view label) {
    constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t const count = std::accumulate(order.rank_rows.begin(), order.rank_rows.end(), std::uint64_t{0});
    TravellingRows rows{std::vector<std::uint64_t>(count, none),
                        std::vector<std::uint64_t>(order.origins.empty() ? 0 : count)};
    if (order.moves.empty()) {
        std::iota(rows.tensor.begin(), rows.tensor.end(), std::uint64_t{0});
    }
    std::uint64_t moved = 0;
    for (RowMove const& move : order.moves) {
        for (std::uint64_t row = 0; row < move.rows; ++row, ++moved) {
            std::uint64_t const packed = move.packed + row * move.packed_step;
            if (packed >= count || rows.tensor[packed] != none) {
                throw Error(fmt::format("plan builder: \"{}\": row {} does not travel, or twice", label, packed));
            }
            rows.tensor[packed] = move.tensor + row * move.tensor_step;
            if (!order.origins.empty()) {
                rows.origins[packed] = order.origins.at(moved);
            }
        }
    }
    if (!order.moves.empty() && moved != count) {
        throw Error(fmt::format("plan builder: \"{}\": {} of {} rows that travel are moved", label, moved, count));
    }
    return rows;
}

/// Places the tensor of `order` in `layout`. Rows of a block that follow each other at one distance are one run.
ScatteredSide scattered_side(RowOrder const& order, Bytes row_bytes, BufferLayout& layout, std::string_view label) {
    TravellingRows const rows = rows_as_they_travel(order, label);
    Bytes const tensor = layout.place(std::max<std::uint64_t>(order.tensor_rows, rows.tensor.size()) * row_bytes);
    ScatteredSide side;
    std::size_t row = 0;
    for (std::uint64_t const rank_rows : order.rank_rows) {
        for (std::size_t const end = row + rank_rows; row < end;) {
            RowPlaces run{1, tensor + rows.tensor[row] * row_bytes, row_bytes};
            if (row + 1 < end && rows.tensor[row + 1] > rows.tensor[row]) {
                run.stride = (rows.tensor[row + 1] - rows.tensor[row]) * row_bytes;
            }
            for (++row; row < end && tensor + rows.tensor[row] * row_bytes == run.first + run.rows * run.stride;
                 ++row) {
                ++run.rows;
            }
            side.runs.push_back(run);
        }
    }
    std::transform(rows.origins.begin(), rows.origins.end(), std::back_inserter(side.origins),
                   [row_bytes](std::uint64_t origin) { return origin * row_bytes; });
    return side;
}

/// Throws Error unless each of `ranks` ranks has whole elements.
void require_parts(Collective const& step, Rank ranks, std::string_view label) {
    auto const count = static_cast<std::size_t>(ranks);
    Bytes const size = size_of(step.element);
    bool const fits = step.shares.empty() ? step.bytes % (count * size) == 0
                                          : step.shares.size() == count &&
                                                std::all_of(step.shares.begin(), step.shares.end(),
                                                            [size](Bytes share) { return share % size == 0; });
    if (!fits) {
        throw Error(fmt::format("plan builder: \"{}\": {} B are not a whole number of {} for each of {} ranks", label,
                                step.bytes, name_of(step.element), ranks));
    }
}

/// Throws Error unless the signals have all blocks.
void require_blocks(std::span<Signal const> signals, std::size_t blocks, std::string_view label) {
    std::size_t const expected =
        std::accumulate(signals.begin(), signals.end(), std::size_t{0},
                        [](std::size_t sum, Signal const& signal) { return sum + signal.blocks; });
    if (expected != blocks) {
        throw Error(
            fmt::format("plan builder: \"{}\": the signals have {} blocks, {} are given", label, expected, blocks));
    }
}

/// Where the rows of blocks lie in the buffer in which they travel.
class TravellingPlaces {
public:
    TravellingPlaces(std::span<Block const> blocks, Bytes row_bytes, std::string_view label)
        : blocks_(blocks), row_bytes_(row_bytes), label_(label) {
        for (Block const& block : blocks) {
            ends_.push_back((ends_.empty() ? 0 : ends_.back()) + block.bytes / row_bytes);
        }
    }

    /// Offset of the first row. Throws Error where the rows are of several blocks.
    [[nodiscard]] Bytes of(RowMove const& move) const {
        auto const end = std::upper_bound(ends_.begin(), ends_.end(), move.packed);
        std::uint64_t const last = move.packed + (move.rows - 1) * move.packed_step;
        if (end == ends_.end() || last >= *end) {
            throw Error(fmt::format("plan builder: \"{}\": rows {} to {} that travel are not of one rank", label_,
                                    move.packed, last));
        }
        Block const& block = blocks_[static_cast<std::size_t>(end - ends_.begin())];
        return block.offset + block.bytes - (*end - move.packed) * row_bytes_;
    }

private:
    std::span<Block const> blocks_;
    Bytes row_bytes_;
    std::string_view label_;
    std::vector<std::uint64_t> ends_;  // of each block, in rows
};

}  // namespace

GroupId PlanBuilder::group(Group group) {
    auto const found = std::find(plan_.groups.begin(), plan_.groups.end(), group);
    auto const id = static_cast<GroupId>(found - plan_.groups.begin());
    if (found == plan_.groups.end()) {
        plan_.groups.push_back(std::move(group));
    }
    return id;
}

StepId PlanBuilder::exchange(GroupId group, std::span<Bytes const> send_bytes, std::span<Bytes const> recv_bytes,
                             std::string label, std::vector<StepId> after) {
    auto const ranks = static_cast<std::size_t>(group_size(group));
    if (send_bytes.size() != ranks || recv_bytes.size() != ranks) {
        throw Error(fmt::format("plan builder: exchange \"{}\" has {} send and {} recv sizes for a group of {} ranks",
                                label, send_bytes.size(), recv_bytes.size(), ranks));
    }
    BufferLayout send_layout{Guard::none, are_equal(send_bytes)};
    bool const packed = are_equal(recv_bytes);
    BufferLayout recv_layout{packed ? Guard::around_all : Guard::around_each, packed};
    Exchange exchange{.group = group,
                      .send_buffer = 0,
                      .recv_buffer = 0,
                      .send = blocks(send_bytes, send_layout),
                      .recv = blocks(recv_bytes, recv_layout)};
    exchange.send_buffer = buffer(label + ".send", send_layout.size(), Role::sent);
    exchange.recv_buffer = buffer(label + ".recv", recv_layout.size(), Role::delivered);
    return add_step(std::move(exchange), std::move(after), std::move(label));
}

StepId PlanBuilder::exchange_in_place(GroupId group, std::span<Bytes const> bytes, std::string label,
                                      std::vector<StepId> after) {
    bool const packed = are_equal(bytes);
    BufferLayout layout{packed ? Guard::around_all : Guard::around_each, packed};
    Exchange exchange{.group = group, .send_buffer = 0, .recv_buffer = 0, .send = blocks(bytes, layout), .recv = {}};
    exchange.recv = exchange.send;
    exchange.send_buffer = exchange.recv_buffer = buffer(label + ".data", layout.size(), Role::delivered);
    return add_step(std::move(exchange), std::move(after), std::move(label));
}

StepId PlanBuilder::collective(Collective step, std::string label, std::vector<StepId> after) {
    Rank const ranks = group_size(step.group);
    step.root = has_root(step.kind) ? step.root : 0;
    step.reduction = reduces(step.kind) ? step.reduction : Reduction::sum;
    if (has_parts(step.kind)) {
        require_parts(step, ranks, label);
    }
    auto const me = rank_in(plan_.groups[step.group], plan_.me);
    if (!me) {
        throw Error(fmt::format("plan builder: rank {} is not in the group of its collective", plan_.me));
    }
    CollectiveSides const sides = sides_of(step, *me, static_cast<Bytes>(ranks));
    bool const in_place = in_place_ && sides.sends && sides.receives;
    if (step.kind == OperationKind::broadcast) {
        step.send = step.recv = region(label + ".data", step.bytes, Role::delivered);
    } else if (facts_of(step.kind).parts == PartSide::received) {
        step.send =
            sides.sends ? region(label + ".send", sides.sent, in_place ? Role::delivered : Role::sent) : Region{};
        step.recv = in_place ? Region{step.send.buffer, step.send.offset + sides.part_begin}
                             : region(label + ".recv", sides.received, Role::delivered);
        step.send = sides.sends ? step.send : step.recv;
    } else {
        step.send = in_place ? Region{} : region(label + ".send", sides.sent, Role::sent);
        step.recv = sides.receives ? region(label + ".recv", sides.received, Role::delivered) : step.send;
        if (in_place) {
            Bytes const begin = has_parts(step.kind) ? sides.part_begin : 0;
            step.send = {step.recv.buffer, step.recv.offset + begin};
        }
    }
    return add_step(std::move(step), std::move(after), std::move(label));
}

// The exchange lays its blocks out, and moves behind the step that packs them.
template <class AddPack>
Exchange PlanBuilder::exchange_behind(GroupId group, std::span<std::uint64_t const> send_rows,
                                      std::span<std::uint64_t const> recv_rows, Bytes row_bytes,
                                      std::string const& label, AddPack const& add_pack) {
    auto const bytes_of = [row_bytes](std::span<std::uint64_t const> rows) {
        std::vector<Bytes> bytes;
        std::transform(rows.begin(), rows.end(), std::back_inserter(bytes),
                       [row_bytes](std::uint64_t count) { return count * row_bytes; });
        return bytes;
    };
    StepId const first = exchange(group, bytes_of(send_rows), bytes_of(recv_rows), label);
    Step step = std::move(plan_.steps[first]);
    plan_.steps.pop_back();
    auto placed = std::get<Exchange>(step.operation);
    step.after = add_pack(placed);
    plan_.steps.push_back(std::move(step));
    return placed;
}

StepId PlanBuilder::packed_exchange(GroupId group, std::span<std::uint64_t const> send_rows,
                                    std::span<std::uint64_t const> recv_rows, std::uint64_t row_numbers,
                                    Packing packing, std::string const& label, std::vector<StepId> after) {
    auto const blocks_of = [&](std::vector<Block> const& places, std::span<std::uint64_t const> rows) {
        std::vector<RowBlock> blocks;
        for (Block const& place : places) {
            blocks.push_back({rows[static_cast<std::size_t>(place.peer)], row_numbers, 0, place.offset});
        }
        return blocks;
    };
    Exchange const exchanged = exchange_behind(
        group, send_rows, recv_rows, packing.format.row_bytes(row_numbers), label, [&](Exchange const& placed) {
            return std::vector{convert(PackDirection::pack, packing, placed.send_buffer,
                                       blocks_of(placed.send, send_rows), "pack." + label, std::move(after))};
        });
    auto const moves = static_cast<StepId>(plan_.steps.size() - 1);
    return convert(PackDirection::unpack, packing, exchanged.recv_buffer, blocks_of(exchanged.recv, recv_rows),
                   "unpack." + label, {moves});
}

StepId PlanBuilder::packed_all_gather(GroupId group, std::span<std::uint64_t const> numbers, Packing packing,
                                      std::string const& label, std::vector<StepId> after) {
    std::vector<Bytes> shares;
    std::transform(numbers.begin(), numbers.end(), std::back_inserter(shares),
                   [&](std::uint64_t count) { return packing.format.row_bytes(count); });
    SharedBytes const gathered =
        are_equal(shares) ? SharedBytes(shares.size() * (shares.empty() ? 0 : shares.front())) : SharedBytes(shares);
    bool const in_place = std::exchange(in_place_, false);
    StepId const first = all_gather(group, gathered, Element::byte, label);
    in_place_ = in_place;
    Step step = std::move(plan_.steps[first]);
    plan_.steps.pop_back();
    auto const placed = std::get<Collective>(step.operation);
    auto const mine = static_cast<std::size_t>(rank_in(plan_.groups[group], plan_.me).value());
    step.after = {convert(PackDirection::pack, packing, placed.send.buffer, {{1, numbers[mine], 0, placed.send.offset}},
                          "pack." + label, std::move(after))};
    plan_.steps.push_back(std::move(step));
    std::vector<RowBlock> parts;
    Bytes offset = placed.recv.offset;
    for (std::size_t rank = 0; rank < numbers.size(); ++rank) {
        parts.push_back({1, numbers[rank], 0, offset});
        offset += shares[rank];
    }
    return convert(PackDirection::unpack, packing, placed.recv.buffer, std::move(parts), "unpack." + label,
                   {first + 1});
}

StepId PlanBuilder::convert(PackDirection direction, Packing packing, BufferId packed, std::vector<RowBlock> blocks,
                            std::string const& label, std::vector<StepId> after) {
    bool const packs = direction == PackDirection::pack;
    blocks.erase(std::remove_if(blocks.begin(), blocks.end(),
                                [](RowBlock const& block) { return block.rows == 0 || block.row_numbers == 0; }),
                 blocks.end());
    Conversion conversion{direction, packing.format, packing.element, 0, packed, std::move(blocks)};
    // As tensors: what a rank packs, and what it gets from the others, is one behind the other.
    BufferLayout layout{packs ? Guard::none : Guard::around_all, true};
    for (RowBlock& block : conversion.blocks) {
        block.numbers = layout.place(conversion.number_bytes(block));
    }
    conversion.numbers = buffer(label + ".numbers", layout.size(), packs ? Role::sent : Role::delivered);
    return add_step(Compute{.conversion = std::move(conversion)}, std::move(after), label);
}

StepId PlanBuilder::rearranged_exchange(GroupId group, RowOrder const& sent, RowOrder const& received, Bytes row_bytes,
                                        Processor by, std::string const& label, std::vector<StepId> after) {
    auto const moved = [](RowOrder const& order) {
        return !order.moves.empty() || std::all_of(order.rank_rows.begin(), order.rank_rows.end(),
                                                   [](std::uint64_t rows) { return rows == 0; });
    };
    Exchange const exchanged =
        exchange_behind(group, sent.rank_rows, received.rank_rows, row_bytes, label, [&](Exchange const& placed) {
            return moved(sent) ? std::vector{rearrange(PackDirection::pack, by, sent, row_bytes, placed.send_buffer,
                                                       placed.send, "pack." + label, std::move(after))}
                               : std::move(after);
        });
    auto const moves = static_cast<StepId>(plan_.steps.size() - 1);
    return moved(received) ? rearrange(PackDirection::unpack, by, received, row_bytes, exchanged.recv_buffer,
                                       exchanged.recv, "unpack." + label, {moves})
                           : moves;
}

StepId PlanBuilder::rearranged_exchange(GroupId group, RowOrder const& sent, RowOrder const& received,
                                        PackedRowShape const& row, Processor by, std::string const& label,
                                        std::vector<StepId> after) {
    Exchange const exchanged =
        exchange_behind(group, sent.rank_rows, received.rank_rows, row.packing.format.row_bytes(row.numbers), label,
                        [&](Exchange const& placed) {
                            return std::vector{rearrange_packed(PackDirection::pack, by, sent, row, placed.send_buffer,
                                                                placed.send, "pack." + label, std::move(after))};
                        });
    auto const moves = static_cast<StepId>(plan_.steps.size() - 1);
    return rearrange_packed(PackDirection::unpack, by, received, row, exchanged.recv_buffer, exchanged.recv,
                            "unpack." + label, {moves});
}

StepId PlanBuilder::rearranged_all_gather(GroupId group, RowOrder const& gathered, Bytes row_bytes, Element element,
                                          Processor by, std::string const& label, std::vector<StepId> after) {
    std::vector<Block> parts;
    Bytes bytes = 0;
    for (std::uint64_t const rows : gathered.rank_rows) {
        parts.push_back({static_cast<Rank>(parts.size()), bytes, rows * row_bytes});
        bytes += rows * row_bytes;
    }
    bool const in_place = std::exchange(in_place_, false);
    StepId const last = all_gather(group, bytes, element, label, std::move(after));
    in_place_ = in_place;
    Region const placed = std::get<Collective>(plan_.steps[last].operation).recv;
    for (Block& part : parts) {
        part.offset += placed.offset;
    }
    return rearrange(PackDirection::unpack, by, gathered, row_bytes, placed.buffer, parts, "unpack." + label, {last});
}

StepId PlanBuilder::rearrange(PackDirection direction, Processor by, RowOrder const& order, Bytes row_bytes,
                              BufferId packed, std::span<Block const> blocks, std::string const& label,
                              std::vector<StepId> after) {
    bool const packs = direction == PackDirection::pack;
    BufferLayout layout{packs ? Guard::none : Guard::around_all};
    Bytes const tensor = layout.place(order.tensor_rows * row_bytes);
    Rearrangement rows{direction, by, row_bytes, packed, packed, {}, {}};
    (packs ? rows.from : rows.to) = buffer(label + ".rows", layout.size(), packs ? Role::sent : Role::delivered);
    TravellingPlaces const places(blocks, row_bytes, label);
    for (RowMove const& move : order.moves) {
        RowRun run{move.rows, tensor + move.tensor * row_bytes, places.of(move), move.tensor_step * row_bytes,
                   move.packed_step * row_bytes};
        if (!packs) {
            std::swap(run.from, run.to);
            std::swap(run.from_stride, run.to_stride);
        }
        rows.runs.push_back(run);
    }
    std::transform(order.origins.begin(), order.origins.end(), std::back_inserter(rows.origins),
                   [row_bytes](std::uint64_t row) { return row * row_bytes; });
    return add_step(Compute{.rearrangement = std::move(rows)}, std::move(after), label);
}

StepId PlanBuilder::rearrange_packed(PackDirection direction, Processor by, RowOrder const& order,
                                     PackedRowShape const& row, BufferId packed, std::span<Block const> blocks,
                                     std::string const& label, std::vector<StepId> after) {
    bool const packs = direction == PackDirection::pack;
    Bytes const number_bytes = row.numbers * size_of(row.packing.element);
    Bytes const packed_bytes = row.packing.format.row_bytes(row.numbers);
    BufferLayout layout{packs ? Guard::none : Guard::around_all};
    Bytes const tensor = layout.place(order.tensor_rows * number_bytes);
    Conversion conversion{direction, row.packing.format, row.packing.element, 0, packed, {}, by, order.origins};
    conversion.numbers = buffer(label + ".numbers", layout.size(), packs ? Role::sent : Role::delivered);
    TravellingPlaces const places(blocks, packed_bytes, label);
    for (RowMove const& move : order.moves) {
        bool const adjacent = move.tensor_step == 1 && move.packed_step == 1;
        std::uint64_t const together = adjacent ? move.rows : 1;
        for (std::uint64_t first = 0; first < move.rows; first += together) {
            conversion.blocks.push_back({together, row.numbers,
                                         tensor + (move.tensor + first * move.tensor_step) * number_bytes,
                                         places.of(move) + first * move.packed_step * packed_bytes});
        }
    }
    return add_step(Compute{.conversion = std::move(conversion)}, std::move(after), label);
}

StepId PlanBuilder::scattered_exchange(GroupId group, RowOrder const& sent, RowOrder const& received, Bytes row_bytes,
                                       std::string label, std::vector<StepId> after) {
    auto const ranks = static_cast<std::size_t>(group_size(group));
    if (sent.rank_rows.size() != ranks || received.rank_rows.size() != ranks) {
        throw Error(fmt::format("plan builder: exchange \"{}\" has rows of {} and {} ranks for a group of {} ranks",
                                label, sent.rank_rows.size(), received.rank_rows.size(), ranks));
    }
    BufferLayout send_layout{Guard::none};
    BufferLayout recv_layout{Guard::around_all};
    Exchange exchange{.group = group,
                      .send_buffer = 0,
                      .recv_buffer = 0,
                      .send = travelling_blocks(sent, row_bytes),
                      .recv = travelling_blocks(received, row_bytes)};
    exchange.scattered = ScatteredRows{row_bytes, scattered_side(sent, row_bytes, send_layout, label),
                                       scattered_side(received, row_bytes, recv_layout, label)};
    exchange.send_buffer = buffer(label + ".send", send_layout.size(), Role::sent);
    exchange.recv_buffer = buffer(label + ".recv", recv_layout.size(), Role::delivered);
    return add_step(std::move(exchange), std::move(after), std::move(label));
}

StepId PlanBuilder::barrier(GroupId group, std::string label, std::vector<StepId> after) {
    return add_step(Barrier{group}, std::move(after), std::move(label));
}

StepId PlanBuilder::send(GroupId group, Rank to, Bytes bytes, int channel, int batch, std::string label,
                         std::vector<StepId> after, MessageWindow window) {
    Region const data = region(label + ".send", window.span(bytes), Role::sent);
    return add_step(Send{group, data.buffer, {to, data.offset, bytes}, channel, batch, window}, std::move(after),
                    std::move(label));
}

StepId PlanBuilder::recv(GroupId group, Rank from, Bytes bytes, int channel, int batch, std::string label,
                         std::vector<StepId> after, MessageWindow window) {
    Region const data = region(label + ".recv", window.span(bytes), Role::delivered);
    return add_step(Recv{group, data.buffer, {from, data.offset, bytes}, channel, batch, window}, std::move(after),
                    std::move(label));
}

StepId PlanBuilder::put(GroupId group, std::vector<Signal> signals, std::span<PlacedBytes const> blocks,
                        std::string label, std::vector<StepId> after, OperationKind kind) {
    BufferLayout layout{Guard::none};
    Put put{.kind = kind, .group = group, .signals = std::move(signals)};
    put.send.reserve(blocks.size());
    put.targets.reserve(is_read(kind) ? 0 : blocks.size());
    require_blocks(put.signals, blocks.size(), label);
    auto next = blocks.begin();
    for (Signal const& signal : put.signals) {
        for (std::uint32_t block = 0; block < signal.blocks; ++block, ++next) {
            put.send.push_back({signal.peer, layout.place(next->bytes), next->bytes});
            if (!is_read(kind)) {
                put.targets.push_back(next->offset);
            }
        }
    }
    put.buffer = buffer(label + ".send", layout.size(), Role::sent);
    return add_step(std::move(put), std::move(after), std::move(label));
}

StepId PlanBuilder::wait_signal(GroupId group, std::vector<Signal> signals, std::span<PlacedBytes const> blocks,
                                Bytes buffer_bytes, std::string label, std::vector<StepId> after, OperationKind kind) {
    WaitSignal wait{.kind = kind, .group = group, .signals = std::move(signals)};
    wait.recv.reserve(blocks.size());
    require_blocks(wait.signals, blocks.size(), label);
    Bytes end = 0;
    auto next = blocks.begin();
    for (Signal const& signal : wait.signals) {
        for (std::uint32_t block = 0; block < signal.blocks; ++block, ++next) {
            wait.recv.push_back({signal.peer, next->offset, next->bytes});
            end = std::max(end, next->offset + next->bytes);
        }
    }
    Bytes const guarded = (end / guard_bytes + 2) * guard_bytes;
    wait.buffer = buffer(label + ".recv", std::max(buffer_bytes, guarded), Role::delivered);
    return add_step(std::move(wait), std::move(after), std::move(label));
}

StepId PlanBuilder::compute(Nanoseconds busy_ns, std::string label, std::vector<StepId> after,
                            std::optional<ProductShape> product, bool uninterrupted) {
    return add_step(Compute{busy_ns, product, uninterrupted}, std::move(after), std::move(label));
}

Rank PlanBuilder::group_size(GroupId group) const {
    if (group >= plan_.groups.size()) {
        throw Error(fmt::format("plan builder: rank {} has no group {}", plan_.me, group));
    }
    return static_cast<Rank>(plan_.groups[group].members.size());
}

BufferId PlanBuilder::buffer(std::string name, Bytes bytes, Role role) {
    if (shared_) {
        return shared_buffer(bytes, role);
    }
    auto const id = static_cast<BufferId>(plan_.buffers.size());
    plan_.buffers.push_back({std::move(name), bytes});
    return id;
}

BufferId PlanBuilder::shared_buffer(Bytes bytes, Role role) {
    // As many as transfers that a plan usually has in flight in one direction: libraries want disjoint buffers.
    constexpr std::size_t buffers_in_turn = 8;
    std::vector<BufferId>& ids = shared_buffers_.at(static_cast<std::size_t>(role));
    std::size_t const turn = next_shared_.at(static_cast<std::size_t>(role))++ % buffers_in_turn;
    if (turn == ids.size()) {
        ids.push_back(static_cast<BufferId>(plan_.buffers.size()));
        plan_.buffers.push_back(
            {fmt::format("shared.{}.{}", role == Role::sent ? "send" : "recv", turn), Bytes{0}, true});
    }
    Buffer& chosen = plan_.buffers[ids[turn]];
    chosen.bytes = std::max(chosen.bytes, bytes);
    return ids[turn];
}

Region PlanBuilder::region(std::string name, Bytes bytes, Role role) {
    BufferLayout layout{role == Role::delivered ? Guard::around_each : Guard::none};
    Bytes const offset = layout.place(bytes);
    return {buffer(std::move(name), layout.size(), role), offset};
}

StepId PlanBuilder::add_step(Operation operation, std::vector<StepId> after, std::string label) {
    auto const id = static_cast<StepId>(plan_.steps.size());
    plan_.steps.push_back({std::move(operation), std::move(after), std::move(label), microbatch_});
    return id;
}

}  // namespace dlmb
