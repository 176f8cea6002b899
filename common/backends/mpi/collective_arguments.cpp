// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/collective_arguments.hpp"

#include "common/backend_kit/host_reduce.hpp"
#include "common/base/error.hpp"
#include "common/plan/group_index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlmb::mpi {
namespace {

/// Same size, for moving only.
MPI_Datatype moved_type(Element element) {
    switch (size_of(element)) {
    case 2:
        return MPI_UINT16_T;
    case 4:
        return MPI_UINT32_T;
    case 8:
        return MPI_UINT64_T;
    default:
        return MPI_BYTE;
    }
}

MPI_Datatype reduced_type(Element element) {
    switch (element) {
    case Element::int32:
        return MPI_INT32_T;
    case Element::int64:
        return MPI_INT64_T;
    case Element::fp32:
        return MPI_FLOAT;
    case Element::fp64:
        return MPI_DOUBLE;
    case Element::fp16:
    case Element::bf16:
        return MPI_UINT16_T;
    case Element::byte:
    case Element::fp8:
        break;
    }
    return MPI_UINT8_T;
}

template <Element element, Reduction reduction>
void combine(void* operand, void* into, int* count, MPI_Datatype* /*type*/) {
    host_reduce(static_cast<std::byte*>(into), static_cast<std::byte const*>(operand),
                static_cast<Bytes>(*count) * size_of(element), element, reduction);
}

constexpr std::size_t reductions = 4;

template <Element element>
std::array<MPI_User_function*, reductions> functions() {
    return {combine<element, Reduction::sum>, combine<element, Reduction::prod>, combine<element, Reduction::min>,
            combine<element, Reduction::max>};
}

MPI_User_function* narrow_function(Element element, Reduction reduction) {
    auto const index = static_cast<std::size_t>(reduction);
    switch (element) {
    case Element::fp16:
        return functions<Element::fp16>().at(index);
    case Element::bf16:
        return functions<Element::bf16>().at(index);
    default:
        return functions<Element::fp8>().at(index);
    }
}

/// For floating-point formats that MPI does not have. Made at first use; MPI_Finalize takes them back.
MPI_Op narrow_operation(Element element, Reduction reduction) {
    constexpr std::size_t elements = 8;
    static std::array<MPI_Op, elements* reductions> made = [] {
        std::array<MPI_Op, elements * reductions> none{};
        none.fill(MPI_OP_NULL);
        return none;
    }();
    MPI_Op& operation = made.at(static_cast<std::size_t>(element) * reductions + static_cast<std::size_t>(reduction));
    if (operation == MPI_OP_NULL) {
        constexpr int commutes = 1;
        check(MPI_Op_create(narrow_function(element, reduction), commutes, &operation), "MPI_Op_create");
    }
    return operation;
}

MPI_Op reduction_of(Element element, Reduction reduction) {
    if (element == Element::fp16 || element == Element::bf16 || element == Element::fp8) {
        return narrow_operation(element, reduction);
    }
    switch (reduction) {
    case Reduction::sum:
        return MPI_SUM;
    case Reduction::prod:
        return MPI_PROD;
    case Reduction::min:
        return MPI_MIN;
    default:
        return MPI_MAX;
    }
}

/// The elements of a step in calls of at most `limits.call_bytes` elements. `call`: from the first element and a count.
template <class Call>
std::vector<CollectiveArguments> cut(Bytes elements, Limits const& limits, Call call) {
    std::vector<CollectiveArguments> calls;
    for (Bytes first = 0; first < elements; first += limits.call_bytes) {
        calls.push_back(call(first, static_cast<int>(std::min(limits.call_bytes, elements - first))));
    }
    return calls;
}

struct ArgumentsOf {
    CompileContext const& context;

    using Calls = std::vector<CollectiveArguments>;
    Calls operator()(AllReduce const& step) const {
        std::byte const* const send = context.address(step.send);
        std::byte* const recv = context.address(step.recv);
        Bytes const size = size_of(step.element);
        return cut(step.bytes / size, context.limits, [&](Bytes first, int count) -> CollectiveArguments {
            void const* const from = send == recv ? MPI_IN_PLACE : send + first * size;
            return {OperationKind::all_reduce,
                    from,
                    recv + first * size,
                    count,
                    reduced_type(step.element),
                    reduction_of(step.element, step.reduction),
                    0};
        });
    }
    Calls operator()(Broadcast const& step) const {
        std::byte* const data = context.address(step.data);
        Bytes const size = size_of(step.element);
        return cut(step.bytes / size, context.limits, [&](Bytes first, int count) -> CollectiveArguments {
            return {OperationKind::broadcast,
                    nullptr,
                    data + first * size,
                    count,
                    moved_type(step.element),
                    MPI_OP_NULL,
                    step.root};
        });
    }
    Calls operator()(ReduceScatter const& step) const {
        std::byte const* const send = context.address(step.send);
        std::byte* const recv = context.address(step.recv);
        Bytes const share = step.bytes / size_of(step.element) / static_cast<Bytes>(context.ranks(step.group));
        return {{OperationKind::reduce_scatter, send == recv ? MPI_IN_PLACE : send, recv, static_cast<int>(share),
                 reduced_type(step.element), reduction_of(step.element, step.reduction), 0}};
    }
    Calls operator()(AllGather const& step) const {
        std::byte const* const send = context.address(step.send);
        std::byte* const recv = context.address(step.recv);
        Bytes const share = step.bytes / static_cast<Bytes>(context.ranks(step.group));
        bool const in_place = send == recv + share * static_cast<Bytes>(context.me(step.group));
        return {{OperationKind::all_gather, in_place ? MPI_IN_PLACE : send, recv,
                 static_cast<int>(share / size_of(step.element)), moved_type(step.element), MPI_OP_NULL, 0}};
    }
    template <class Other>
    Calls operator()(Other const& /*step*/) const {
        throw Error("mpi: arguments of a collective for another step");
    }
};

}  // namespace

std::vector<CollectiveArguments> collective_arguments(Operation const& operation, CompileContext const& context) {
    return std::visit(ArgumentsOf{context}, operation);
}

MPI_Comm collective_comm(Operation const& operation, CompileContext const& context) {
    return context.comm(collective_group(operation).value());
}

// An all_gather or reduce_scatter cannot be cut into several calls: the shares of a call lie next to each other.
std::string share_refusal(Operation const& operation, Plan const& plan, Limits const& limits) {
    auto const refusal = [&](auto const& step) -> std::string {
        Bytes const share = step.bytes / size_of(step.element) / plan.groups.at(step.group).members.size();
        return share <= limits.call_bytes
                   ? ""
                   : fmt::format("{} elements per rank in one call, MPI's int ends at 2^31 - 1", share);
    };
    if (auto const* scatter = std::get_if<ReduceScatter>(&operation)) {
        return refusal(*scatter);
    }
    auto const* gather = std::get_if<AllGather>(&operation);
    return gather == nullptr ? "" : refusal(*gather);
}

}  // namespace dlmb::mpi
