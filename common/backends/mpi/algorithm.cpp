// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method algorithm: the blocking calls, each by an algorithm of the library that the user names.
#include "common/backends/mpi/algorithm_choice.hpp"
#include "common/backends/mpi/methods.hpp"
#include "common/base/error.hpp"
#include "common/base/parse_whole.hpp"

#include <fmt/core.h>

#include <limits>

namespace dlmb::mpi {
namespace {

constexpr Bytes most = std::numeric_limits<std::int32_t>::max();  // what the variables of the libraries hold

std::int64_t read_setting(AlgorithmSetting setting, std::string_view text) {
    std::string const option = fmt::format("--method algorithm:{}", name_of(setting));
    if (setting == AlgorithmSetting::segment) {
        Bytes const bytes = parse_bytes(text, option);
        if (bytes > most) {
            throw UsageError(fmt::format("{}={}: expected less than 2G", option, text));
        }
        return static_cast<std::int64_t>(bytes);
    }
    std::int32_t const number = parse_whole<std::int32_t>(text).value_or(-1);
    if (number < 0) {
        throw UsageError(fmt::format("{}={}: expected a whole number from 0 up", option, text));
    }
    return number;
}

bool read_algorithm_knob(ChosenMethod& method, std::string_view knob, std::string_view value) {
    AlgorithmChoice& choice = method.algorithms;
    for (CollectiveCall const call : every_collective_call) {
        if (knob == name_of(call)) {
            choice.algorithms[call] = value;
            bool const packed = choice.exchange_call() == CollectiveCall::alltoall;
            method.calls = &find_direct_method(packed ? "alltoall" : "alltoallv");
            return true;
        }
    }
    for (AlgorithmSetting const setting : every_algorithm_setting) {
        if (knob == name_of(setting)) {
            choice.settings[setting] = read_setting(setting, value);
            return true;
        }
    }
    return false;
}

PreparedCall compile_by_calls(Operation const& operation, CompileContext const& context) {
    return compile_by(*context.method.calls, operation, context);
}

}  // namespace

std::string_view name_of(CollectiveCall call) {
    switch (call) {
    case CollectiveCall::allreduce:
        return "allreduce";
    case CollectiveCall::reduce_scatter_block:
        return "reduce_scatter_block";
    case CollectiveCall::allgather:
        return "allgather";
    case CollectiveCall::bcast:
        return "bcast";
    case CollectiveCall::alltoall:
        return "alltoall";
    case CollectiveCall::alltoallv:
        return "alltoallv";
    }
    throw Error("collective call out of range");
}

OperationKind operation_of(CollectiveCall call) {
    switch (call) {
    case CollectiveCall::allreduce:
        return OperationKind::all_reduce;
    case CollectiveCall::reduce_scatter_block:
        return OperationKind::reduce_scatter;
    case CollectiveCall::allgather:
        return OperationKind::all_gather;
    case CollectiveCall::bcast:
        return OperationKind::broadcast;
    case CollectiveCall::alltoall:
    case CollectiveCall::alltoallv:
        return OperationKind::exchange;
    }
    throw Error("collective call out of range");
}

std::string_view name_of(AlgorithmSetting setting) {
    switch (setting) {
    case AlgorithmSetting::segment:
        return "segment";
    case AlgorithmSetting::tree_fanout:
        return "tree_fanout";
    case AlgorithmSetting::chain_fanout:
        return "chain_fanout";
    case AlgorithmSetting::max_requests:
        return "max_requests";
    }
    throw Error("algorithm setting out of range");
}

std::optional<CollectiveCall> AlgorithmChoice::exchange_call() const {
    for (CollectiveCall const call : {CollectiveCall::alltoall, CollectiveCall::alltoallv}) {
        if (algorithms.contains(call)) {
            return call;
        }
    }
    return std::nullopt;
}

Method algorithm() {
    return {.info = {algorithm_method, "the blocking calls by an algorithm that the library has for them",
                     collective_operations, "CALL=NAME (what this library offers)"},
            .compile = compile_by_calls,
            .read_knob = read_algorithm_knob,
            .kind = MethodKind::algorithm};
}

}  // namespace dlmb::mpi
