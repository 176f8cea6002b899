// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/payload_layout.hpp"

#include "common/backend_kit/step_match.hpp"
#include "common/base/error.hpp"
#include "common/memory/payload.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace dlmb {
namespace {

constexpr Bytes payload_word_bytes = 8;

bool earlier(Piece const& a, Piece const& b) {
    return std::tie(a.buffer, a.offset) < std::tie(b.buffer, b.offset);
}

/// The same stream, at the same place of it.
bool joins(Piece const& before, Piece const& piece) {
    return before.buffer == piece.buffer && before.step == piece.step && before.source == piece.source &&
           before.destination == piece.destination && piece.offset <= before.offset + before.bytes &&
           piece.first_byte - before.first_byte == piece.offset - before.offset;
}

/// Rows that lie and travel one behind the other are one piece; a row that is sent twice is one.
void append_joined(std::vector<Piece> rows, std::vector<Piece>& pieces) {
    std::sort(rows.begin(), rows.end(), earlier);
    Piece* last = nullptr;
    for (Piece const& row : rows) {
        if (last != nullptr && joins(*last, row)) {
            last->bytes = std::max(last->bytes, row.offset + row.bytes - last->offset);
        } else {
            last = &pieces.emplace_back(row);
        }
    }
}

/// Takes the pieces that travel in a buffer apart into those of single rows, which take their place.
class BlocksOfRows {
public:
    BlocksOfRows(Plan const& plan, StepId step, BufferId buffer, std::vector<Piece>& pieces)
        : plan_(plan), step_(step), pieces_(pieces) {
        auto const others = std::stable_partition(pieces.begin(), pieces.end(),
                                                  [buffer](Piece const& piece) { return piece.buffer != buffer; });
        blocks_.assign(others, pieces.end());
        pieces.erase(others, pieces.end());
        std::sort(blocks_.begin(), blocks_.end(), earlier);
        for (Piece const& block : blocks_) {
            left_ += block.bytes;
        }
    }

    /// The row of `bytes` at `offset`, as its block has it.
    [[nodiscard]] Piece row_at(Bytes offset, Bytes bytes) {
        auto const behind = std::upper_bound(blocks_.begin(), blocks_.end(), offset,
                                             [](Bytes wanted, Piece const& block) { return wanted < block.offset; });
        if (behind == blocks_.begin() || offset - std::prev(behind)->offset + bytes > std::prev(behind)->bytes) {
            fail(fmt::format("{} B at offset {} are in no block that travels", bytes, offset));
        }
        Piece row = *std::prev(behind);
        row.first_byte += offset - row.offset;
        row.offset = offset;
        row.bytes = bytes;
        left_ -= bytes;
        return row;
    }

    void keep(Piece const& piece) { kept_.push_back(piece); }

    void put_back() && {
        if (left_ != 0) {
            fail("not every row that travels is moved once");
        }
        append_joined(std::move(kept_), pieces_);
    }

private:
    [[noreturn]] void fail(std::string const& text) const {
        throw Error(fmt::format("rank {} step {} \"{}\": {}", plan_.me, step_, plan_.steps[step_].label, text));
    }

    Plan const& plan_;
    StepId step_;
    std::vector<Piece>& pieces_;
    std::vector<Piece> blocks_;
    std::vector<Piece> kept_;
    Bytes left_ = 0;  // that no row has claimed
};

/// Visits a plan's operations and collects their pieces.
class Collector {
public:
    explicit Collector(Plan const& plan) : plan_(plan) {}

    void visit(StepId step) {
        step_ = step;
        std::visit([this](auto const& operation) { add(operation); }, plan_.steps[step].operation);
    }
    [[nodiscard]] PayloadLayout take() && {
        for (auto const& [step, compute] : packing_) {
            if (compute->conversion) {
                add_numbers(step, *compute->conversion);
            }
            if (compute->rearrangement) {
                add_rows(step, *compute->rearrangement);
            }
        }
        std::copy_if(guarded_.begin(), guarded_.end(), std::back_inserter(layout_.guarded),
                     [this](BufferId buffer) { return !plan_.buffers.at(buffer).shared; });
        return std::move(layout_);
    }

private:
    void add(Exchange const& exchange) {
        if (exchange.scattered) {
            add_scattered(exchange);
            return;
        }
        for (Block const& block : exchange.send) {
            send({exchange.send_buffer, block.offset}, block.bytes, plan_.me, world(exchange.group, block.peer));
        }
        guarded_.insert(exchange.recv_buffer);
        for (Block const& block : exchange.recv) {
            deliver({exchange.recv_buffer, block.offset}, block.bytes, world(exchange.group, block.peer), plan_.me);
        }
    }
    void add(Send const& operation) {
        for_each_place(operation.window, [&](Bytes first) {
            keep(layout_.sent, {operation.buffer, operation.to.offset + first, operation.to.bytes, step_, plan_.me,
                                world(operation.group, operation.to.peer), 0, first});
        });
    }
    void add(Recv const& operation) {
        guarded_.insert(operation.buffer);
        for_each_place(operation.window, [&](Bytes first) {
            keep(layout_.delivered, {operation.buffer, operation.from.offset + first, operation.from.bytes, step_,
                                     world(operation.group, operation.from.peer), plan_.me, 0, first});
        });
    }
    void add(Collective const& step) {
        OperationFacts const& facts = facts_of(step.kind);
        CollectiveSides const sides = sides_of(plan_, step);
        if (facts.reduces) {
            send(step.send, step.bytes, every_rank, every_rank);
            if (sides.receives) {
                Bytes const first = facts.parts == PartSide::none ? 0 : sides.part_begin / size_of(step.element);
                deliver(step.recv, sides.received, every_rank, every_rank, first);
            }
            return;
        }
        // One stream serves all ranks that get the same.
        Rank const root = facts.root == RootRole::none ? every_rank : world(step.group, step.root);
        Rank const source = facts.root == RootRole::sends ? root : plan_.me;
        Rank const destination = facts.root == RootRole::receives ? root : every_rank;
        if (facts.parts == PartSide::received) {
            if (sides.sends) {
                for_each_part(step, step.send,
                              [&](Region const& part, Bytes bytes, Rank to) { send(part, bytes, source, to); });
            }
            deliver(step.recv, sides.part, source, plan_.me);
            return;
        }
        if (sides.sends) {
            send(step.send, sides.sent, source, destination);
        }
        if (facts.parts == PartSide::none) {
            guarded_.insert(step.recv.buffer);
        }
        if (sides.receives && facts.parts == PartSide::none) {
            deliver(step.recv, sides.received, source, destination);
        } else if (sides.receives) {
            for_each_part(step, step.recv,
                          [&](Region const& part, Bytes bytes, Rank from) { deliver(part, bytes, from, destination); });
        }
    }
    void add(Barrier const& /*barrier*/) {}
    void add(Put const& operation) {
        for (Block const& block : operation.send) {
            Rank const peer = world(operation.group, block.peer);
            keep(layout_.sent, {operation.buffer, block.offset, block.bytes, step_, plan_.me, peer, 0,
                                next_in_stream(puts_to_[peer], block.bytes)});
        }
    }
    void add(WaitSignal const& operation) {
        guarded_.insert(operation.buffer);
        for (Block const& block : operation.recv) {
            Rank const peer = world(operation.group, block.peer);
            keep(layout_.delivered, {operation.buffer, block.offset, block.bytes, step_, peer, plan_.me, 0,
                                     next_in_stream(puts_from_[peer], block.bytes)});
        }
    }
    void add(Compute const& compute) {
        if (compute.conversion || compute.rearrangement) {
            packing_.emplace_back(step_, &compute);
        }
    }

    /// Marks bytes that a step sends packed, or that one delivers and another unpacks; the numbers get pieces of their
    /// own. Streams are those of add_rows(), in numbers.
    void add_numbers(StepId step, Conversion const& conversion) {
        if (plan_.buffers.at(conversion.packed).shared) {
            return;
        }
        bool const packs = conversion.direction == PackDirection::pack;
        BlocksOfRows blocks(plan_, step, conversion.packed, packs ? layout_.sent : layout_.delivered);
        std::size_t row = 0;
        for (RowBlock const& block : conversion.blocks) {
            PieceNumbers packed{true, conversion.format, conversion.element, block.row_numbers};
            PieceNumbers unpacked = packed;
            unpacked.packed = false;
            for (std::uint64_t i = 0; i < block.rows; ++i, ++row) {
                Piece travels = blocks.row_at(block.packed + i * packed.row_bytes(), packed.row_bytes());
                std::uint64_t place = travels.first_byte / packed.row_bytes();
                if (!conversion.origins.empty()) {
                    travels.destination = every_rank;
                    place = conversion.origins.at(row);
                }
                travels.first_byte = place * packed.row_bytes();
                travels.numbers = packed;
                travels.packed_by_step = packs;
                blocks.keep(travels);
                Piece numbers = travels;
                numbers.packed_by_step = false;
                numbers.buffer = conversion.numbers;
                numbers.offset = block.numbers + i * unpacked.row_bytes();
                numbers.bytes = unpacked.row_bytes();
                numbers.first_byte = place * unpacked.row_bytes();
                numbers.step = step;
                numbers.numbers = unpacked;
                blocks.keep(numbers);
            }
        }
        if (!packs) {
            guarded_.insert(conversion.numbers);
        }
        std::move(blocks).put_back();
    }

    /// The rows of a tensor get pieces of their own: each is where its block's stream has it. Rows that go to several
    /// ranks have one stream, that of their owner's tensor, and split the block.
    void add_rows(StepId step, Rearrangement const& rows) {
        bool const packs = rows.direction == PackDirection::pack;
        BufferId const travelling = packs ? rows.to : rows.from;
        BufferId const tensor = packs ? rows.from : rows.to;
        if (!packs) {
            guarded_.insert(tensor);
        }
        if (plan_.buffers.at(travelling).shared) {
            return;
        }
        BlocksOfRows blocks(plan_, step, travelling, packs ? layout_.sent : layout_.delivered);
        std::size_t row = 0;
        for (RowRun const& run : rows.runs) {
            for (std::uint64_t i = 0; i < run.rows; ++i, ++row) {
                Bytes const from = run.from + i * run.from_stride;
                Bytes const to = run.to + i * run.to_stride;
                Piece travels = blocks.row_at(packs ? to : from, rows.row_bytes);
                travels.packed_by_step = packs;
                if (!rows.origins.empty()) {
                    travels.destination = every_rank;
                    travels.first_byte = rows.origins[row];
                }
                blocks.keep(travels);
                Piece in_tensor = travels;
                in_tensor.buffer = tensor;
                in_tensor.offset = packs ? from : to;
                in_tensor.step = step;
                in_tensor.packed_by_step = false;
                blocks.keep(in_tensor);
            }
        }
        std::move(blocks).put_back();
    }
    /// A piece for each row, in the tensors. Its stream is that of its block; of rows that go to several ranks, as in
    /// add_rows().
    void add_scattered(Exchange const& exchange) {
        ScatteredRows const& rows = *exchange.scattered;
        guarded_.insert(exchange.recv_buffer);
        auto const add_side = [&](ScatteredSide const& side, std::vector<Block> const& blocks, BufferId buffer,
                                  auto const& ends_with, std::vector<Piece>& pieces) {
            std::vector<Bytes> const places = side.places();
            std::vector<Piece> found;
            std::size_t row = 0;
            for (Block const& block : blocks) {
                auto const [source, destination] = ends_with(world(exchange.group, block.peer));
                for (Bytes first = 0; first < block.bytes; first += rows.row_bytes, ++row) {
                    Piece piece{buffer, places.at(row), rows.row_bytes, step_, source, destination, 0, first};
                    if (!side.origins.empty()) {
                        piece.destination = every_rank;
                        piece.first_byte = side.origins.at(row);
                    }
                    keep(found, piece);
                }
            }
            append_joined(std::move(found), pieces);
        };
        add_side(
            rows.sent, exchange.send, exchange.send_buffer, [this](Rank peer) { return std::pair(plan_.me, peer); },
            layout_.sent);
        add_side(
            rows.received, exchange.recv, exchange.recv_buffer, [this](Rank peer) { return std::pair(peer, plan_.me); },
            layout_.delivered);
    }
    void send(Region region, Bytes bytes, Rank source, Rank destination) {
        keep(layout_.sent, {region.buffer, region.offset, bytes, step_, source, destination, 0});
    }
    void deliver(Region region, Bytes bytes, Rank source, Rank destination, std::uint64_t first_element = 0) {
        guarded_.insert(region.buffer);
        keep(layout_.delivered, {region.buffer, region.offset, bytes, step_, source, destination, first_element});
    }
    /// Where the next block of the puts between two ranks begins in their stream: at a whole word.
    static Bytes next_in_stream(Bytes& end, Bytes bytes) {
        return std::exchange(end, (end + bytes + payload_word_bytes - 1) / payload_word_bytes * payload_word_bytes);
    }
    /// Messages of a window without a stride have one place, and one payload.
    static void for_each_place(MessageWindow const& window, auto const& use) {
        Bytes const places = window.stride == 0 ? 1 : window.messages;
        for (Bytes place = 0; place < places; ++place) {
            use(place * window.stride);
        }
    }
    void keep(std::vector<Piece>& pieces, Piece const& piece) {
        Bytes const size = plan_.buffers.at(piece.buffer).bytes;
        if (piece.offset > size || piece.bytes > size - piece.offset) {
            throw Error(fmt::format("rank {} step {} \"{}\": {} B at offset {} of buffer \"{}\", which has {} B",
                                    plan_.me, step_, plan_.steps[step_].label, piece.bytes, piece.offset,
                                    plan_.buffers[piece.buffer].name, size));
        }
        if (piece.bytes > 0 && !plan_.buffers[piece.buffer].shared) {
            pieces.push_back(piece);
            pieces.back().travel = piece.step;
        }
    }
    [[nodiscard]] Rank world(GroupId group, Rank peer) const {
        return plan_.groups.at(group).members.at(static_cast<std::size_t>(peer));
    }
    /// Calls use(region, bytes, world rank) for the part of each rank.
    template <class Use>
    void for_each_part(Collective const& step, Region part, Use const& use) const {
        Shares const shares = shares_of(plan_, step);
        std::vector<Rank> const& members = plan_.groups.at(step.group).members;
        for (std::size_t place = 0; place < members.size(); ++place) {
            Bytes const bytes = shares.of(static_cast<Rank>(place));
            use(part, bytes, members[place]);
            part.offset += bytes;
        }
    }

    Plan const& plan_;
    StepId step_ = 0;
    PayloadLayout layout_;
    std::set<BufferId> guarded_;
    std::map<Rank, Bytes> puts_to_;  // bytes of the streams so far, by world rank
    std::map<Rank, Bytes> puts_from_;
    std::vector<std::pair<StepId, Compute const*>> packing_;
};

bool overlap(Piece const& a, Piece const& b) {
    return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

/// All pieces in order of place. Throws where two claim one byte, unless a collective works in place.
std::vector<Piece const*> ordered(Plan const& plan, PayloadLayout const& layout) {
    std::vector<Piece const*> pieces;
    for (std::vector<Piece> const* each : {&layout.sent, &layout.delivered}) {
        std::transform(each->begin(), each->end(), std::back_inserter(pieces),
                       [](Piece const& piece) { return &piece; });
    }
    std::stable_sort(pieces.begin(), pieces.end(), [](Piece const* a, Piece const* b) { return earlier(*a, *b); });
    Piece const* furthest = nullptr;
    for (Piece const* piece : pieces) {
        if (furthest != nullptr && overlap(*furthest, *piece) && furthest->step != piece->step) {
            throw Error(fmt::format(
                "rank {}: steps {} \"{}\" and {} \"{}\" share bytes of buffer \"{}\"; the payload check needs a "
                "region of its own for each",
                plan.me, furthest->step, plan.steps[furthest->step].label, piece->step, plan.steps[piece->step].label,
                plan.buffers[piece->buffer].name));
        }
        if (furthest == nullptr || furthest->buffer != piece->buffer ||
            furthest->offset + furthest->bytes < piece->offset + piece->bytes) {
            furthest = piece;
        }
    }
    return pieces;
}

void add_gaps(Plan const& plan, BufferId buffer, std::vector<Piece const*> const& pieces, std::vector<Gap>& gaps) {
    auto next =
        std::find_if(pieces.begin(), pieces.end(), [buffer](Piece const* piece) { return piece->buffer >= buffer; });
    Piece const* before = nullptr;
    Bytes end = 0;
    for (; next != pieces.end() && (*next)->buffer == buffer; ++next) {
        if ((*next)->offset > end) {
            gaps.push_back({buffer, end, (*next)->offset - end, before, *next});
        }
        if ((*next)->offset + (*next)->bytes >= end) {
            end = (*next)->offset + (*next)->bytes;
            before = *next;
        }
    }
    if (plan.buffers.at(buffer).bytes > end) {
        gaps.push_back({buffer, end, plan.buffers[buffer].bytes - end, before, nullptr});
    }
}

}  // namespace

PayloadLayout payload_layout(Plan const& plan) {
    Collector collector(plan);
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        collector.visit(step);
    }
    PayloadLayout layout = std::move(collector).take();
    std::sort(layout.sent.begin(), layout.sent.end(), earlier);
    std::sort(layout.delivered.begin(), layout.delivered.end(), earlier);
    std::vector<Piece const*> const pieces = ordered(plan, layout);
    for (BufferId const buffer : layout.guarded) {
        add_gaps(plan, buffer, pieces, layout.gaps);
    }
    for (StepMatch const& match : match_steps(plan)) {
        layout.step_numbers.push_back(step_number(match));
    }
    return layout;
}

Group const* group_of(Plan const& plan, StepId step) {
    auto const group = group_of(plan.steps.at(step).operation);
    return group ? &plan.groups.at(*group) : nullptr;
}

}  // namespace dlmb
