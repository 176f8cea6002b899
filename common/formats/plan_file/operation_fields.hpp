// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The fields of operations in a plan file, each listed once for writing and reading (common/formats/json/fields.hpp). A
// new operation needs an overload here, and its fields in results-schema/plan.schema.json.
#pragma once

#include "common/formats/json/fields.hpp"
#include "common/formats/plan/plan.hpp"

#include <array>

namespace dlmb::json {

template <>
inline constexpr std::array every_value<Element>{Element::byte,  Element::int8, Element::int32,
                                                 Element::int64, Element::fp8,  Element::fp16,
                                                 Element::bf16,  Element::fp32, Element::fp64};
template <>
inline constexpr std::array every_value<Reduction>{Reduction::sum, Reduction::prod, Reduction::min, Reduction::max};
template <>
inline constexpr std::array every_value<PackDirection>{PackDirection::pack, PackDirection::unpack};
template <>
inline constexpr std::array every_value<Processor>{Processor::host, Processor::device};

}  // namespace dlmb::json

namespace dlmb {

/// Structs of whole numbers as lists of these, in the order of `members`: a plan may have many of them.
template <class Struct, class... Member>
void number_rows(auto& io, char const* name, auto& values, Member Struct::*... members) {
    std::vector<std::array<std::uint64_t, sizeof...(members)>> numbers;
    if constexpr (std::remove_reference_t<decltype(io)>::writes) {
        for (Struct const& value : values) {
            numbers.push_back({value.*members...});
        }
        io(name, numbers);
    } else {
        io(name, numbers);
        for (auto const& row : numbers) {
            auto next = row.begin();
            Struct& value = values.emplace_back();
            ((value.*members = *next++), ...);
        }
    }
}

void fields(auto& io, json::Of<Block> auto& block) {
    io("peer", block.peer);
    io("bytes", block.bytes);
    io.if_known("offset", block.offset);
}
void fields(auto& io, json::Of<Region> auto& region) {
    io("buffer", region.buffer);
    io("offset", region.offset);
}
void fields(auto& io, json::Of<MessageWindow> auto& window) {
    io("messages", window.messages);
    io("stride", window.stride);
}
void fields(auto& io, json::Of<ScatteredSide> auto& side) {
    number_rows(io, "runs", side.runs, &RowPlaces::rows, &RowPlaces::first, &RowPlaces::stride);
    io.if_known("origins", side.origins);
}
void fields(auto& io, json::Of<ScatteredRows> auto& scattered) {
    io("row_bytes", scattered.row_bytes);
    io("sent", scattered.sent);
    io("received", scattered.received);
}

void fields(auto& io, json::Of<Exchange> auto& step) {
    io.if_known("send_buffer", step.send_buffer);
    io.if_known("recv_buffer", step.recv_buffer);
    io("send", step.send);
    io("recv", step.recv);
    io.if_known("scattered", step.scattered);
}
void message_fields(auto& io, auto& step) {
    io("channel", step.channel);
    io("batch", step.batch);
    io.if_known("buffer", step.buffer);
    io.if_known("window", step.window);
}
void fields(auto& io, json::Of<Send> auto& step) {
    io("to", step.to);
    message_fields(io, step);
}
void fields(auto& io, json::Of<Recv> auto& step) {
    io("from", step.from);
    message_fields(io, step);
}

void fields(auto& io, json::Of<Signal> auto& signal) {
    io("peer", signal.peer);
    io("blocks", signal.blocks);
}
void fields(auto& io, json::Of<Put> auto& step) {
    io.if_known("buffer", step.buffer);
    io("send", step.send);
    if (step.kind == OperationKind::put) {
        io("targets", step.targets);
    }
    io("signals", step.signals);
}
void fields(auto& io, json::Of<WaitSignal> auto& step) {
    io.if_known("buffer", step.buffer);
    io("recv", step.recv);
    io("signals", step.signals);
}

void fields(auto& io, json::Of<Collective> auto& step) {
    io("bytes", step.bytes);
    io("element", step.element);
    if (reduces(step.kind)) {
        io("reduction", step.reduction);
    }
    if (has_root(step.kind)) {
        io("root", step.root);
    }
    if (has_parts(step.kind)) {
        io.if_known("shares", step.shares);
    }
    if (step.kind == OperationKind::broadcast) {
        io.if_known("data", step.send);
        if constexpr (!std::remove_reference_t<decltype(io)>::writes) {
            step.recv = step.send;
        }
    } else {
        io.if_known("input", step.send);
        io.if_known("output", step.recv);
    }
}
void fields(auto& /*io*/, json::Of<Barrier> auto& /*step*/) {}

void fields(auto& io, json::Of<ProductShape> auto& shape) {
    io("rows", shape.rows);
    io("columns", shape.columns);
    io("inner", shape.inner);
}
void fields(auto& io, json::Of<Conversion> auto& conversion) {
    io("direction", conversion.direction);
    io.as(
        "format", conversion.format, [](BlockFormat const& format) { return to_string(format); },
        [&](json::Json const& name, BlockFormat& format) {
            auto const found = name.is_string() ? block_format_named(name.get<std::string>()) : std::nullopt;
            if (!found) {
                io.refuse("format", std::string("must be one of ") + block_format_names);
            }
            format = *found;
        });
    io("element", conversion.element);
    io("numbers", conversion.numbers);
    io("packed", conversion.packed);
    number_rows(io, "blocks", conversion.blocks, &RowBlock::rows, &RowBlock::row_numbers, &RowBlock::numbers,
                &RowBlock::packed);
    io.if_known("by", conversion.by);
    io.if_known("origins", conversion.origins);
}
void fields(auto& io, json::Of<Rearrangement> auto& rearrangement) {
    io("direction", rearrangement.direction);
    io("by", rearrangement.by);
    io("row_bytes", rearrangement.row_bytes);
    io("from", rearrangement.from);
    io("to", rearrangement.to);
    number_rows(io, "runs", rearrangement.runs, &RowRun::rows, &RowRun::from, &RowRun::to, &RowRun::from_stride,
                &RowRun::to_stride);
    io.if_known("origins", rearrangement.origins);
}
void fields(auto& io, json::Of<Compute> auto& step) {
    io("busy_ns", step.busy_ns);
    io.if_known("product", step.product);
    io.if_known("uninterrupted", step.uninterrupted);
    io.if_known("conversion", step.conversion);
    io.if_known("rearrangement", step.rearrangement);
}

/// Calls visit(rank, field) for everything in the operation that names a rank of its group.
void each_peer(auto& step, auto const& visit) {
    if constexpr (requires { step.root; }) {
        if (has_root(step.kind)) {
            visit(step.root, "root");
        }
    }
    if constexpr (requires { step.to; }) {
        visit(step.to.peer, "to");
    }
    if constexpr (requires { step.from; }) {
        visit(step.from.peer, "from");
    }
    auto const of_list = [&](auto& list, char const* field) {
        for (auto& each : list) {
            visit(each.peer, field);
        }
    };
    if constexpr (requires { step.recv_buffer; }) {
        of_list(step.send, "send");
        of_list(step.recv, "recv");
    }
    if constexpr (requires { step.targets; }) {
        of_list(step.send, "send");
    }
    if constexpr (requires { step.signals; }) {
        of_list(step.signals, "signals");
        if constexpr (requires { step.recv; }) {
            of_list(step.recv, "recv");
        }
    }
}

}  // namespace dlmb
