// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/datatypes.hpp"

#include "common/backends/mpi/narrow_reductions.hpp"

namespace dlmb::mpi {

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

MPI_Op operation_of(Element element, Reduction reduction) {
    if (is_narrow_float(element)) {
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

}  // namespace dlmb::mpi
