// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/bench/bare_calls.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <variant>

namespace dlmb::benchmark {
namespace {

struct Messages {
    std::vector<BareBlock> sends, receives;
};
using OneCall = std::variant<Messages, BareLoop::Call>;

ncclDataType_t type_of(Element element) {
    switch (element) {
    case Element::byte:
        return ncclUint8;
    case Element::int32:
        return ncclInt32;
    case Element::fp32:
        return ncclFloat;
    case Element::bf16:
        return ncclBfloat16;
    default:
        throw Error(fmt::format("the bare loop has no {}", name_of(element)));
    }
}

/// Of each step its call; messages of neighbouring steps are one.
struct BareStep {
    Plan const& plan;
    Buffers const& buffers;
    BareExchange form;

    [[nodiscard]] OneCall operator()(Exchange const& exchange) const {
        std::size_t const ranks = plan.groups[exchange.group].members.size();
        auto const sent = packed(exchange.send, ranks);
        auto const received = packed(exchange.recv, ranks);
        if (form == BareExchange::native && sent && received) {
            std::byte* const from = buffers.base[exchange.send_buffer] + sent->offset;
            std::byte* const to = buffers.base[exchange.recv_buffer] + received->offset;
            return [from, to, count = sent->block_bytes](ncclComm_t communicator, cudaStream_t stream) {
                require(ncclAlltoAll(from, to, count, ncclUint8, communicator, stream), "ncclAlltoAll");
            };
        }
        Messages messages;
        for (Block const& block : exchange.send) {
            messages.sends.push_back({buffers.base[exchange.send_buffer] + block.offset, block.bytes, block.peer});
        }
        for (Block const& block : exchange.recv) {
            messages.receives.push_back({buffers.base[exchange.recv_buffer] + block.offset, block.bytes, block.peer});
        }
        return messages;
    }
    [[nodiscard]] OneCall operator()(Send const& send) const {
        return Messages{{{buffers.base[send.buffer] + send.to.offset, send.to.bytes, send.to.peer}}, {}};
    }
    [[nodiscard]] OneCall operator()(Recv const& recv) const {
        return Messages{{}, {{buffers.base[recv.buffer] + recv.from.offset, recv.from.bytes, recv.from.peer}}};
    }
    [[nodiscard]] OneCall operator()(Collective const& step) const {
        void const* const from = at(step.send);
        void* const to = at(step.recv);
        std::size_t const numbers = step.bytes / size_of(step.element);
        std::size_t const ranks = plan.groups[step.group].members.size();
        Element const element = step.element;
        int const root = step.root;
        switch (step.kind) {
        case OperationKind::all_reduce:
            return [=](ncclComm_t communicator, cudaStream_t stream) {
                require(ncclAllReduce(from, to, numbers, type_of(element), ncclSum, communicator, stream),
                        "ncclAllReduce");
            };
        case OperationKind::reduce:
            return [=](ncclComm_t communicator, cudaStream_t stream) {
                require(ncclReduce(from, to, numbers, type_of(element), ncclSum, root, communicator, stream),
                        "ncclReduce");
            };
        case OperationKind::reduce_scatter:
            return [=](ncclComm_t communicator, cudaStream_t stream) {
                require(ncclReduceScatter(from, to, numbers / ranks, type_of(element), ncclSum, communicator, stream),
                        "ncclReduceScatter");
            };
        case OperationKind::all_gather:
            return [=, bytes = step.bytes / ranks](ncclComm_t communicator, cudaStream_t stream) {
                require(ncclAllGather(from, to, bytes, ncclUint8, communicator, stream), "ncclAllGather");
            };
        case OperationKind::broadcast:
            return [=, bytes = step.bytes](ncclComm_t communicator, cudaStream_t stream) {
                require(ncclBroadcast(to, to, bytes, ncclUint8, root, communicator, stream), "ncclBroadcast");
            };
        default:
            throw Error("the bare loop has no call for a step of this plan");
        }
    }
    [[nodiscard]] OneCall operator()(auto const& /*step*/) const {
        throw Error("the bare loop has no call for a step of this plan");
    }

private:
    [[nodiscard]] std::byte* at(Region const& region) const { return buffers.base[region.buffer] + region.offset; }
};

void append(std::vector<OneCall>& calls, OneCall call, bool joins) {
    auto* const more = std::get_if<Messages>(&call);
    if (joins && more != nullptr && !calls.empty() && std::holds_alternative<Messages>(calls.back())) {
        auto& last = std::get<Messages>(calls.back());
        last.sends.insert(last.sends.end(), more->sends.begin(), more->sends.end());
        last.receives.insert(last.receives.end(), more->receives.begin(), more->receives.end());
    } else {
        calls.push_back(std::move(call));
    }
}

}  // namespace

BareLoop::Call bare_calls(Plan const& plan, Buffers const& buffers, BareExchange exchange_form) {
    std::vector<OneCall> calls;
    for (Step const& step : plan.steps) {
        bool const is_message =
            std::holds_alternative<Send>(step.operation) || std::holds_alternative<Recv>(step.operation);
        append(calls, std::visit(BareStep{plan, buffers, exchange_form}, step.operation), is_message);
    }
    return [calls = std::move(calls)](ncclComm_t communicator, cudaStream_t stream) {
        for (OneCall const& call : calls) {
            if (auto const* const messages = std::get_if<Messages>(&call)) {
                exchange(messages->sends, messages->receives, communicator, stream);
            } else {
                std::get<BareLoop::Call>(call)(communicator, stream);
            }
        }
    };
}

}  // namespace dlmb::benchmark
