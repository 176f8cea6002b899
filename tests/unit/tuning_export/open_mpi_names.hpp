// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ids of Open MPI 4.1.4 as ompi_info --param coll tuned --level 9 prints them: a second list, against which the one of
// the exporter is held.
#pragma once

#include "tests/unit/tuning_export/agreement.hpp"

#include <map>
#include <stdexcept>

namespace dlmb::tuning {

inline int collective_id(Point const& point) {
    switch (point.operation) {
    case TunedOperation::allgather:
        return 0;
    case TunedOperation::allreduce:
        return 2;
    case TunedOperation::exchange:
        return point.uniform ? 3 : 4;
    case TunedOperation::broadcast:
        return 7;
    case TunedOperation::reduce_scatter:
        return 13;
    case TunedOperation::sendrecv:
        break;
    }
    throw std::logic_error("coll/tuned has no messages");
}

/// By collective; place: id, 0 is the default.
inline std::map<int, std::vector<std::string>> const& names_by_id() {
    static std::map<int, std::vector<std::string>> const names{
        {0, {"", "linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"}},
        {2, {"", "basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"}},
        {3, {"", "linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"}},
        {4, {"", "basic_linear", "pairwise"}},
        {7,
         {"", "basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial",
          "scatter_allgather", "scatter_allgather_ring"}},
        {13, {"", "basic_linear", "recursive_doubling", "recursive_halving", "butterfly"}}};
    return names;
}

inline std::string name_of_id(Point const& point, int id) {
    return names_by_id().at(collective_id(point)).at(static_cast<std::size_t>(id));
}

/// Random tables choose every known algorithm, and one that there is not.
inline TableShape open_mpi_shape() {
    TableShape shape{"mpi", "open_mpi.tuned", "host", "", {}};
    for (TunedOperation const operation : every_tuned_operation) {
        for (bool const uniform : {false, true}) {
            if (operation == TunedOperation::sendrecv || (uniform && operation != TunedOperation::exchange)) {
                continue;
            }
            auto names = names_by_id().at(collective_id({operation, uniform}));
            names.front() = "unheard_of";
            shape.names.push_back({operation, uniform, names});
        }
    }
    return shape;
}

}  // namespace dlmb::tuning
