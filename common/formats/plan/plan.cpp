// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/plan.hpp"

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
    return static_cast<OperationKind>(operation.index());
}

std::string_view name_of(OperationKind kind) {
    constexpr std::array<std::string_view, 14> names{
        "exchange", "send",    "recv",      "allreduce", "reduce", "reduce_scatter", "allgather",
        "gather",   "scatter", "broadcast", "barrier",   "put",    "wait_signal",    "compute"};
    static_assert(std::variant_size_v<Operation> == names.size());
    return names.at(static_cast<std::size_t>(kind));
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
