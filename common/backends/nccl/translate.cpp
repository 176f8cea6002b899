// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/translate.hpp"

#include "common/plan/packed.hpp"
#include "common/plan/precedence.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::nccl {
namespace {

using CompiledCall = Expected<NativeCall, Unsupported>;

std::optional<ncclDataType_t> type_of(Element element) {
    switch (element) {
    case Element::byte:
        return ncclUint8;
    case Element::int32:
        return ncclInt32;
    case Element::int64:
        return ncclInt64;
    case Element::fp16:
        return ncclFloat16;
    case Element::bf16:
        return ncclBfloat16;
    case Element::fp32:
        return ncclFloat32;
    case Element::fp64:
        return ncclFloat64;
    case Element::fp8:
        break;  // needs NCCL 2.24 and compute capability 9.0
    }
    return std::nullopt;
}

ncclRedOp_t operation_of(Reduction reduction) {
    switch (reduction) {
    case Reduction::prod:
        return ncclProd;
    case Reduction::min:
        return ncclMin;
    case Reduction::max:
        return ncclMax;
    case Reduction::sum:
        break;
    }
    return ncclSum;
}

class Translator {
public:
    Translator(Plan const& plan, Buffers const& buffers, Communicators const& communicators, bool all_to_all)
        : plan_(plan), buffers_(buffers), communicators_(communicators), all_to_all_(all_to_all) {}

    [[nodiscard]] CompiledCall translate(StepId step) {
        step_ = step;
        return std::visit(*this, plan_.steps[step].operation);
    }

    [[nodiscard]] CompiledCall operator()(Exchange const& exchange) const {
        return all_to_all_ ? uniform(exchange) : grouped(exchange);
    }
    [[nodiscard]] CompiledCall operator()(Send const& step) const {
        return done(GroupedCall{communicators_.of(plan_.groups[step.group]),
                                {{buffers_.base[step.buffer] + step.to.offset, step.to.bytes, step.to.peer}},
                                {}});
    }
    [[nodiscard]] CompiledCall operator()(Recv const& step) const {
        return done(GroupedCall{communicators_.of(plan_.groups[step.group]),
                                {},
                                {{buffers_.base[step.buffer] + step.from.offset, step.from.bytes, step.from.peer}}});
    }
    [[nodiscard]] CompiledCall operator()(AllGather const& step) const {
        return done(AllGatherCall{communicators_.of(plan_.groups[step.group]), at(step.send), at(step.recv),
                                  step.bytes / size(step.group)});
    }
    [[nodiscard]] CompiledCall operator()(Broadcast const& step) const {
        return done(BroadcastCall{communicators_.of(plan_.groups[step.group]), at(step.data), step.bytes, step.root});
    }
    [[nodiscard]] CompiledCall operator()(AllReduce const& step) const {
        auto const type = type_of(step.element);
        if (!type) {
            return cannot(fmt::format("{} reductions are not built", name_of(step.element)));
        }
        return done(AllReduceCall{communicators_.of(plan_.groups[step.group]), at(step.send), at(step.recv),
                                  step.bytes / size_of(step.element), *type, operation_of(step.reduction)});
    }
    [[nodiscard]] CompiledCall operator()(ReduceScatter const& step) const {
        auto const type = type_of(step.element);
        if (!type) {
            return cannot(fmt::format("{} reductions are not built", name_of(step.element)));
        }
        return done(ReduceScatterCall{communicators_.of(plan_.groups[step.group]), at(step.send), at(step.recv),
                                      step.bytes / size(step.group) / size_of(step.element), *type,
                                      operation_of(step.reduction)});
    }
    [[nodiscard]] CompiledCall operator()(Compute const& /*step*/) const {
        return cannot("no kernel passes the time of a compute step yet");
    }

private:
    [[nodiscard]] std::byte* at(Region const& region) const { return buffers_.base[region.buffer] + region.offset; }
    [[nodiscard]] std::size_t size(GroupId group) const { return plan_.groups[group].members.size(); }
    template <class Call>
    [[nodiscard]] CompiledCall done(Call call) const {
        return NativeCall{{step_}, std::move(call)};
    }
    [[nodiscard]] CompiledCall cannot(std::string_view why) const {
        return Unsupported{fmt::format("nccl: \"{}\": {}", plan_.steps[step_].label, why)};
    }

    [[nodiscard]] CompiledCall grouped(Exchange const& exchange) const {
        GroupedCall call{communicators_.of(plan_.groups[exchange.group]), {}, {}};
        for (Block const& block : exchange.send) {
            call.sends.push_back({buffers_.base[exchange.send_buffer] + block.offset, block.bytes, block.peer});
        }
        for (Block const& block : exchange.recv) {
            call.receives.push_back({buffers_.base[exchange.recv_buffer] + block.offset, block.bytes, block.peer});
        }
        return done(std::move(call));
    }

    [[nodiscard]] CompiledCall uniform(Exchange const& exchange) const {
        auto const send = packed(exchange.send, size(exchange.group));
        auto const recv = packed(exchange.recv, size(exchange.group));
        if (!send || !recv) {
            return cannot("ncclAlltoAll needs equal packed blocks; method grouped takes ragged ones");
        }
        return done(AllToAllCall{communicators_.of(plan_.groups[exchange.group]),
                                 buffers_.base[exchange.send_buffer] + send->offset,
                                 buffers_.base[exchange.recv_buffer] + recv->offset, send->block_bytes});
    }

    Plan const& plan_;
    Buffers const& buffers_;
    Communicators const& communicators_;
    bool all_to_all_;
    StepId step_ = 0;
};

bool is_message(Operation const& operation) {
    return std::holds_alternative<Send>(operation) || std::holds_alternative<Recv>(operation);
}

/// Messages that stand next to each other and do not wait for each other go into one group: one after the other on a
/// stream, a send would keep the receive behind it from starting.
bool joins(Plan const& plan, NativeCall const& last, StepId step) {
    auto const* group = std::get_if<GroupedCall>(&last.call);
    return group != nullptr && is_message(plan.steps[step].operation) &&
           std::all_of(last.steps.begin(), last.steps.end(), [&](StepId earlier) {
               return is_message(plan.steps[earlier].operation) && !waits_for(plan, step, earlier);
           });
}

}  // namespace

Expected<std::vector<NativeCall>, Unsupported> translate(Plan const& plan, Buffers const& buffers,
                                                         Communicators const& communicators, bool all_to_all) {
    Translator translator(plan, buffers, communicators, all_to_all);
    std::vector<NativeCall> calls;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        CompiledCall call = translator.translate(step);
        if (!call) {
            return call.error();
        }
        NativeCall made = std::move(call).value();
        auto* const next = std::get_if<GroupedCall>(&made.call);
        bool const same_communicator = next != nullptr && !calls.empty() &&
                                       std::holds_alternative<GroupedCall>(calls.back().call) &&
                                       std::get<GroupedCall>(calls.back().call).communicator == next->communicator;
        if (same_communicator && joins(plan, calls.back(), step)) {
            auto& group = std::get<GroupedCall>(calls.back().call);
            group.sends.insert(group.sends.end(), next->sends.begin(), next->sends.end());
            group.receives.insert(group.receives.end(), next->receives.begin(), next->receives.end());
            calls.back().steps.push_back(step);
        } else {
            calls.push_back(std::move(made));
        }
    }
    return calls;
}

}  // namespace dlmb::nccl
