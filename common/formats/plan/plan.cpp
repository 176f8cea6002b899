// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/plan.hpp"

#include "common/formats/plan/group_index.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <set>

namespace dlmb {
namespace {

struct Synonym {
    std::string_view name;
    Element element;
};

constexpr Synonym synonyms[] = {
    {"byte", Element::byte},     {"uint8", Element::byte}, {"int8", Element::int8},   {"char", Element::int8},
    {"int32", Element::int32},   {"int", Element::int32},  {"int64", Element::int64}, {"fp8", Element::fp8},
    {"fp8e4m3", Element::fp8},   {"fp16", Element::fp16},  {"half", Element::fp16},   {"bf16", Element::bf16},
    {"bfloat16", Element::bf16}, {"fp32", Element::fp32},  {"float", Element::fp32},  {"fp64", Element::fp64},
    {"double", Element::fp64},
};

}  // namespace

Bytes size_of(Element element) {
    constexpr std::array<Bytes, 9> sizes{1, 1, 4, 8, 1, 2, 2, 4, 8};
    return sizes.at(static_cast<std::size_t>(element));
}

std::string_view name_of(Element element) {
    constexpr std::array<std::string_view, 9> names{"byte", "int8", "int32", "int64", "fp8",
                                                    "fp16", "bf16", "fp32",  "fp64"};
    return names.at(static_cast<std::size_t>(element));
}

std::string_view name_of(Reduction reduction) {
    constexpr std::array<std::string_view, 4> names{"sum", "prod", "min", "max"};
    return names.at(static_cast<std::size_t>(reduction));
}

std::string_view name_of(PackDirection direction) {
    return direction == PackDirection::pack ? "pack" : "unpack";
}

std::string_view name_of(Processor processor) {
    return processor == Processor::host ? "host" : "device";
}

std::uint64_t ScatteredSide::rows() const {
    return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                           [](std::uint64_t sum, RowPlaces const& run) { return sum + run.rows; });
}

std::vector<Bytes> ScatteredSide::places() const {
    std::vector<Bytes> all;
    all.reserve(rows());
    for (RowPlaces const& run : runs) {
        for (std::uint64_t row = 0; row < run.rows; ++row) {
            all.push_back(run.first + row * run.stride);
        }
    }
    return all;
}

std::uint64_t Conversion::rows() const {
    return std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0},
                           [](std::uint64_t sum, RowBlock const& block) { return sum + block.rows; });
}

Bytes Conversion::number_bytes() const {
    return std::accumulate(blocks.begin(), blocks.end(), Bytes{0},
                           [&](Bytes sum, RowBlock const& block) { return sum + number_bytes(block); });
}

Bytes Conversion::packed_bytes() const {
    return std::accumulate(blocks.begin(), blocks.end(), Bytes{0},
                           [&](Bytes sum, RowBlock const& block) { return sum + packed_bytes(block); });
}

std::uint64_t Rearrangement::rows() const {
    return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                           [](std::uint64_t sum, RowRun const& run) { return sum + run.rows; });
}

Bytes copied_bytes(Compute const& step) {
    if (step.rearrangement) {
        return step.rearrangement->bytes();
    }
    if (!step.conversion) {
        return 0;
    }
    Conversion const& conversion = *step.conversion;
    Bytes numbers = conversion.number_bytes();
    if (conversion.direction == PackDirection::pack && !conversion.origins.empty()) {
        std::set<std::uint64_t> const read(conversion.origins.begin(), conversion.origins.end());
        numbers = numbers / conversion.origins.size() * read.size();  // rows of one tensor are equally long
    }
    return (numbers + conversion.packed_bytes()) / 2;
}

std::optional<Processor> moved_by(Compute const& step) {
    if (step.rearrangement) {
        return step.rearrangement->by;
    }
    return step.conversion ? step.conversion->by : std::nullopt;
}

OperationKind kind_of(Operation const& operation) {
    return std::visit([](auto const& step) { return step.kind; }, operation);
}

std::string_view name_of(Operation const& operation) {
    return name_of(kind_of(operation));
}

std::string_view phase_of(std::string_view label) {
    return label.substr(0, label.find('.'));
}

std::optional<GroupId> group_of(Operation const& operation) {
    return std::visit(
        [](auto const& step) -> std::optional<GroupId> {
            if constexpr (requires { step.group; }) {
                return step.group;
            }
            return std::nullopt;
        },
        operation);
}

Bytes Shares::begin(Rank rank) const {
    return uneven_.empty() ? each_ * static_cast<Bytes>(rank)
                           : std::accumulate(uneven_.begin(), uneven_.begin() + rank, Bytes{0});
}

CollectiveSides sides_of(Collective const& step, Rank me, Bytes ranks) {
    OperationFacts const& facts = facts_of(step.kind);
    Shares const shares(step.bytes, ranks, step.shares);
    bool const sends_part = facts.parts == PartSide::sent;
    bool const receives_part = facts.parts == PartSide::received;
    bool const is_broadcast = step.kind == OperationKind::broadcast;
    CollectiveSides sides{.is_root = facts.root != RootRole::none && step.root == me,
                          .part = shares.of(me),
                          .part_begin = shares.begin(me)};
    sides.sends = facts.root != RootRole::sends || sides.is_root;
    sides.receives = is_broadcast ? !sides.is_root : facts.root != RootRole::receives || sides.is_root;
    sides.sent = !sides.sends ? 0 : sends_part ? sides.part : step.bytes;
    sides.received = !sides.receives ? 0 : receives_part ? sides.part : step.bytes;
    sides.in_place = step.send.buffer == step.recv.buffer &&
                     step.send.offset + (receives_part ? sides.part_begin : 0) ==
                         step.recv.offset + (sends_part ? sides.part_begin : 0) &&
                     (is_broadcast || (sides.sends && sides.receives));
    return sides;
}

CollectiveSides sides_of(Plan const& plan, Collective const& step) {
    return sides_of(step, rank_in(plan.groups.at(step.group), plan.me).value(), plan.groups[step.group].members.size());
}

Exchange direct_blocks(Plan const& plan, Collective const& step) {
    OperationFacts const& facts = facts_of(step.kind);
    CollectiveSides const sides = sides_of(plan, step);
    Shares const shares = shares_of(plan, step);
    std::vector<Rank> const& members = plan.groups[step.group].members;
    Exchange direct{step.group, step.send.buffer, step.recv.buffer, {}, {}};
    Bytes begin = 0;
    for (Rank peer = 0; peer < static_cast<Rank>(members.size()); ++peer) {
        Bytes const part = shares.of(peer);
        // The side with the whole has a place for each rank, the other one has one place.
        auto const block = [&](PartSide other, Region const& region, Bytes bytes) {
            return facts.parts == other ? Block{peer, region.offset + begin, part} : Block{peer, region.offset, bytes};
        };
        Block const sent = block(PartSide::received, step.send, sides.sent);
        Block const received = block(PartSide::sent, step.recv, sides.received);
        bool const stays = sides.in_place && !facts.reduces && members[static_cast<std::size_t>(peer)] == plan.me;
        if (sides.sends && sent.bytes > 0 && !stays && (facts.root != RootRole::receives || peer == step.root)) {
            direct.send.push_back(sent);
        }
        if (sides.receives && received.bytes > 0 && !stays && (facts.root != RootRole::sends || peer == step.root)) {
            direct.recv.push_back(received);
        }
        begin += part;
    }
    return direct;
}

Rank world_rank(Plan const& plan, GroupId group, Rank peer) {
    return plan.groups.at(group).members.at(static_cast<std::size_t>(peer));
}

std::span<Block const> sent_blocks(Operation const& operation) {
    if (auto const* exchange = std::get_if<Exchange>(&operation)) {
        return exchange->send;
    }
    if (auto const* put = std::get_if<Put>(&operation)) {
        return put->send;
    }
    auto const* send = std::get_if<Send>(&operation);
    return send == nullptr ? std::span<Block const>() : std::span(&send->to, 1);
}

std::span<Block const> received_blocks(Operation const& operation) {
    if (auto const* exchange = std::get_if<Exchange>(&operation)) {
        return exchange->recv;
    }
    if (auto const* wait = std::get_if<WaitSignal>(&operation)) {
        return wait->recv;
    }
    auto const* recv = std::get_if<Recv>(&operation);
    return recv == nullptr ? std::span<Block const>() : std::span(&recv->from, 1);
}

Bytes messages_of_block(Operation const& operation) {
    return std::visit(
        [](auto const& step) -> Bytes {
            if constexpr (requires { step.window; }) {
                return step.window.messages;
            }
            return 1;
        },
        operation);
}

std::span<Signal const> signals_of(Operation const& operation) {
    return std::visit(
        [](auto const& step) -> std::span<Signal const> {
            if constexpr (requires { step.signals; }) {
                return step.signals;
            }
            return {};
        },
        operation);
}

bool has_signals(Operation const& operation) {
    return std::holds_alternative<Put>(operation) || std::holds_alternative<WaitSignal>(operation);
}

bool has_signals(Plan const& plan) {
    return std::any_of(plan.steps.begin(), plan.steps.end(),
                       [](Step const& step) { return has_signals(step.operation); });
}

std::optional<Element> element_named(std::string_view name) {
    auto const* const found = std::find_if(std::begin(synonyms), std::end(synonyms),
                                           [&](Synonym const& synonym) { return synonym.name == name; });
    return found == std::end(synonyms) ? std::nullopt : std::optional(found->element);
}

std::optional<Packed> packed(std::span<Block const> blocks, std::size_t members) {
    if (blocks.empty()) {
        return Packed{};
    }
    if (blocks.size() != members) {
        return std::nullopt;
    }
    Block const& first = blocks.front();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (blocks[i].bytes != first.bytes || blocks[i].offset != first.offset + i * first.bytes) {
            return std::nullopt;
        }
    }
    return Packed{first.offset, first.bytes};
}

}  // namespace dlmb
