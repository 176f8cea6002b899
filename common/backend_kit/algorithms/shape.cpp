// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/algorithms/shape.hpp"

namespace dlmb::algorithms {

Area Shape::input(Bytes offset) const {
    if (!in_place || kind == OperationKind::reduce_scatter) {
        return {Space::input, offset};
    }
    Bytes const own = kind == OperationKind::all_gather ? static_cast<Bytes>(place) * part() : 0;
    return {Space::output, own + offset};
}

Area Shape::output(Bytes offset) const {
    if (in_place && kind == OperationKind::reduce_scatter) {
        return {Space::input, static_cast<Bytes>(place) * part() + offset};
    }
    return {Space::output, offset};
}

}  // namespace dlmb::algorithms
