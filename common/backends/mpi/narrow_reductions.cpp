// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/narrow_reductions.hpp"

#include "common/backend_kit/host_reduce.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"

#include <array>

namespace dlmb::mpi {
namespace {

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

MPI_User_function* function(Element element, Reduction reduction) {
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

}  // namespace

bool is_narrow_float(Element element) {
    return element == Element::fp16 || element == Element::bf16 || element == Element::fp8;
}

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
        check(MPI_Op_create(function(element, reduction), commutes, &operation), "MPI_Op_create");
    }
    return operation;
}

}  // namespace dlmb::mpi
