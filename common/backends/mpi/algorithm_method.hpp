// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The method `algorithm` as dlmb_info and --method all see it: its knobs in words, and one choice per algorithm.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/mpi/algorithm_catalogue.hpp"

#include <span>
#include <string>
#include <vector>

namespace dlmb::mpi {

/// "allreduce=basic_linear|ring|..., bcast=..., segment=SIZE": what this library offers.
[[nodiscard]] std::string knobs_of(AlgorithmCatalogue const& catalogue);

/// One choice for each algorithm that changes one of `uses`. Where none can be chosen, one choice that says why.
[[nodiscard]] std::vector<MethodChoice> algorithm_variants(AlgorithmCatalogue const& catalogue,
                                                           std::span<OperationUse const> uses);

}  // namespace dlmb::mpi
