// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Methods blocking and nonblocking: the library's own collectives.
#include "common/backends/mpi/collectives.hpp"

#include "common/backend_kit/host_reduce.hpp"
#include "common/backends/mpi/messages.hpp"
#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace dlmb::mpi {
namespace {

/// fp16, bf16 and fp8 as numbers of their size.
MPI_Datatype type_of(Element element) {
    switch (element) {
    case Element::int8:
        return MPI_INT8_T;
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

template <Element element>
MPI_User_function* function_of(Reduction reduction) {
    switch (reduction) {
    case Reduction::sum:
        return combine<element, Reduction::sum>;
    case Reduction::prod:
        return combine<element, Reduction::prod>;
    case Reduction::min:
        return combine<element, Reduction::min>;
    default:
        return combine<element, Reduction::max>;
    }
}

/// For floating-point formats that MPI does not have. Made at first use; MPI_Finalize takes them back.
MPI_Op narrow_operation(Element element, Reduction reduction) {
    static std::map<std::pair<Element, Reduction>, MPI_Op> made;
    auto const [place, is_new] = made.try_emplace({element, reduction}, MPI_OP_NULL);
    if (is_new) {
        constexpr int commutes = 1;
        auto* const function = element == Element::fp16   ? function_of<Element::fp16>(reduction)
                               : element == Element::bf16 ? function_of<Element::bf16>(reduction)
                                                          : function_of<Element::fp8>(reduction);
        check(MPI_Op_create(function, commutes, &place->second), "MPI_Op_create");
    }
    return place->second;
}

MPI_Op reduction_of(Element element, Reduction reduction) {
    if (is_narrow(element)) {
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

/// MPI's forms in place: it takes the input from the receive buffer. Of a reduce_scatter it leaves the result at the
/// front of that, so that the part of the first rank alone is one.
CollectiveArguments arguments_of(Collective const& step, MpiCall call, CompileContext const& context) {
    CollectiveSides const sides = sides_of(context.plan, step);
    CollectiveArguments made{call, context.address(step.send), context.address(step.recv)};
    made.type = type_of(step.element);
    made.operation = reduces(step.kind) ? reduction_of(step.element, step.reduction) : MPI_OP_NULL;
    made.root = step.root;
    bool const keeps_first = step.kind == OperationKind::reduce_scatter;
    if (step.kind == OperationKind::broadcast) {
        made.send = nullptr;
    } else if (step.kind == OperationKind::scatter) {
        made.recv = sides.in_place ? MPI_IN_PLACE : made.recv;
        made.send = sides.is_root ? made.send : nullptr;
    } else {
        bool const in_place = keeps_first ? step.send == step.recv : sides.in_place;
        made.send = in_place ? MPI_IN_PLACE : made.send;
        made.recv = sides.receives ? made.recv : nullptr;
    }
    return made;
}

/// In one call: the parts of a step lie next to each other.
std::vector<CollectiveArguments> call_with_parts(Collective const& step, CollectiveArguments made,
                                                 CompileContext const& context) {
    Bytes const size = size_of(step.element);
    made.count = static_cast<int>(sides_of(context.plan, step).part / size);
    Bytes offset = 0;
    for (Bytes const share : step.shares) {
        made.counts.push_back(static_cast<int>(share / size));
        made.offsets.push_back(static_cast<int>(offset / size));
        offset += share;
    }
    return {std::move(made)};
}

void* further(void const* data, Bytes bytes) {
    bool const fixed = data == nullptr || data == MPI_IN_PLACE;
    return fixed ? const_cast<void*>(data) : const_cast<std::byte*>(static_cast<std::byte const*>(data)) + bytes;
}

/// In calls of at most `limits.call_bytes` elements.
std::vector<CollectiveArguments> calls_without_parts(Collective const& step, CollectiveArguments const& whole,
                                                     CallLimits const& limits) {
    Bytes const size = size_of(step.element);
    std::vector<CollectiveArguments> calls;
    for (Bytes first = 0; first < step.bytes / size; first += limits.call_bytes) {
        CollectiveArguments& call = calls.emplace_back(whole);
        call.send = further(whole.send, first * size);
        call.recv = further(whole.recv, first * size);
        call.count = static_cast<int>(std::min(limits.call_bytes, step.bytes / size - first));
    }
    return calls;
}

constexpr CollectiveCalls<> blocking_calls{MPI_Allreduce, MPI_Reduce,     MPI_Reduce_scatter, MPI_Reduce_scatter_block,
                                           MPI_Allgather, MPI_Allgatherv, MPI_Gather,         MPI_Gatherv,
                                           MPI_Scatter,   MPI_Scatterv,   MPI_Bcast,          MPI_Barrier,
                                           "MPI_{}"};
constexpr CollectiveCalls<MPI_Request*> nonblocking_calls{
    MPI_Iallreduce, MPI_Ireduce,     MPI_Ireduce_scatter, MPI_Ireduce_scatter_block,
    MPI_Iallgather, MPI_Iallgatherv, MPI_Igather,         MPI_Igatherv,
    MPI_Iscatter,   MPI_Iscatterv,   MPI_Ibcast,          MPI_Ibarrier,
    "MPI_I{}"};

struct BlockingCollective {
    void start() const {
        for (CollectiveArguments const& call : calls) {
            blocking_calls(call, comm);
        }
    }

    std::vector<CollectiveArguments> calls;
    MPI_Comm comm;
};

class NonblockingCollective {
public:
    NonblockingCollective(std::vector<CollectiveArguments> calls, MPI_Comm comm)
        : calls_(std::move(calls)), requests_(calls_.size(), MPI_REQUEST_NULL), comm_(comm) {}
    void start() {
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            nonblocking_calls(calls_[i], comm_, &requests_[i]);
        }
    }
    void wait() { wait_all(requests_); }
    [[nodiscard]] bool test() { return test_all(requests_); }

private:
    std::vector<CollectiveArguments> calls_;
    std::vector<MPI_Request> requests_;
    MPI_Comm comm_;
};

PreparedCall compile_blocking(Operation const& operation, CompileContext const& context) {
    if (!collective_group(operation)) {
        return compile_blocking_message(operation, context);
    }
    std::vector<CollectiveArguments> calls = collective_arguments(operation, context);
    MPI_Comm const comm = collective_comm(operation, context);
    return context.concurrent ? PreparedCall(NonblockingCollective(std::move(calls), comm))
                              : PreparedCall(BlockingCollective{std::move(calls), comm});
}

PreparedCall compile_nonblocking(Operation const& operation, CompileContext const& context) {
    CompileContext concurrent = context;
    concurrent.concurrent = true;
    bool const is_exchange = std::holds_alternative<Exchange>(operation);
    return is_exchange ? alltoallv().compile(operation, concurrent) : compile_blocking(operation, concurrent);
}

}  // namespace

std::vector<CollectiveArguments> collective_arguments(Operation const& operation, CompileContext const& context) {
    auto const* step = std::get_if<Collective>(&operation);
    MpiCall const call = mpi_call_for(kind_of(operation), step == nullptr || step->shares.empty()).value();
    if (step == nullptr) {
        CollectiveArguments barrier;  // g++ 12 ends with an internal error where this is an initializer list
        barrier.call = call;
        return {std::move(barrier)};
    }
    CollectiveArguments const whole = arguments_of(*step, call, context);
    return has_parts(step->kind) ? call_with_parts(*step, whole, context)
                                 : calls_without_parts(*step, whole, context.limits);
}

std::string call_name(std::string_view form, MpiCall call) {
    std::string name(name_of(call));
    if (form.find("I{}") == form.npos) {
        name.front() = static_cast<char>(std::toupper(name.front()));
    }
    return fmt::format(fmt::runtime(form), name);
}

void throw_collective_failed(int code, char const* form, MpiCall call, Where where) {
    throw_call_failed(code, call_name(form, call), where);
}

bool is_narrow(Element element) {
    return element == Element::fp16 || element == Element::bf16 || element == Element::fp8;
}

MPI_Comm collective_comm(Operation const& operation, CompileContext const& context) {
    return context.comm(collective_group(operation).value());
}

Method blocking() {
    return {.info = {"blocking",
                     "MPI_Allreduce, MPI_Reduce, MPI_Reduce_scatter(_block), MPI_Allgather(v), MPI_Gather(v), "
                     "MPI_Scatter(v), MPI_Bcast, MPI_Barrier, MPI_Send, MPI_Recv",
                     {OperationKind::all_reduce, OperationKind::reduce, OperationKind::reduce_scatter,
                      OperationKind::all_gather, OperationKind::gather, OperationKind::scatter,
                      OperationKind::broadcast, OperationKind::barrier, OperationKind::send, OperationKind::recv}},
            .compile = compile_blocking};
}

Method nonblocking() {
    return {.info = {"nonblocking", "MPI_Iallreduce and its like, MPI_Ialltoallv, and a wait", collective_operations},
            .compile = compile_nonblocking,
            .nonblocking_reductions = true,
            .in_place = true};
}

}  // namespace dlmb::mpi
