// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/algorithm_catalogue.hpp"

#include <fmt/core.h>

namespace dlmb::mpi {

AlgorithmCatalogue find_algorithms(std::string_view version) {
    start_tool_interface();
    if (ControlVariable::find("coll_tuned_use_dynamic_rules")) {
        return open_mpi_algorithms();
    }
    if (ControlVariable::find("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM")) {
        return mpich_algorithms(version);
    }
    AlgorithmCatalogue none;
    none.why_not = fmt::format("this library ({}) has no variables that choose an algorithm", version);
    return none;
}

}  // namespace dlmb::mpi
