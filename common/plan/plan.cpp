// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/plan.hpp"

#include <array>

namespace dlmb {

Bytes size_of(Element element) {
    constexpr std::array<Bytes, 8> sizes{1, 4, 8, 1, 2, 2, 4, 8};
    return sizes.at(static_cast<std::size_t>(element));
}

std::string_view name_of(Element element) {
    constexpr std::array<std::string_view, 8> names{"byte", "int32", "int64", "fp8", "fp16", "bf16", "fp32", "fp64"};
    return names.at(static_cast<std::size_t>(element));
}

std::string_view name_of(Reduction reduction) {
    constexpr std::array<std::string_view, 4> names{"sum", "prod", "min", "max"};
    return names.at(static_cast<std::size_t>(reduction));
}

OperationKind kind_of(Operation const& operation) {
    return static_cast<OperationKind>(operation.index());
}

std::string_view name_of(OperationKind kind) {
    constexpr std::array<std::string_view, 8> names{"exchange",       "send",      "recv",      "allreduce",
                                                    "reduce_scatter", "allgather", "broadcast", "compute"};
    static_assert(std::variant_size_v<Operation> == names.size());
    return names.at(static_cast<std::size_t>(kind));
}

std::string_view name_of(Operation const& operation) {
    return name_of(kind_of(operation));
}

std::string_view phase_of(std::string_view label) {
    return label.substr(0, label.find('.'));
}

}  // namespace dlmb
