// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The algorithms that an MPI library offers for its collectives, as it says at run time, and the variables that choose
// among them.
#pragma once

#include "common/backends/mpi/algorithm_choice.hpp"
#include "common/backends/mpi/control_variable.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::mpi {

/// When a written variable counts.
enum class TakesEffect : std::uint8_t { in_new_communicators, at_the_next_call };

/// What there is for one call.
struct CallAlgorithms {
    ControlVariable variable;
    std::vector<NamedValue> algorithms;  // without the library's own decision, which is the variable's value 0
    std::map<AlgorithmSetting, ControlVariable> settings;
};

/// A call of a plan as far as it decides which algorithm really runs.
struct CallSize {
    int ranks = 0;
    Bytes elements = 0;  // of the call: of one rank's share for allgather and reduce_scatter_block
    Bytes element_bytes = 1;
};

struct AlgorithmCatalogue {
    std::string family;  // as in a tuning table: "open_mpi.tuned", "mpich"; empty: nothing is known of this library
    TakesEffect takes_effect = TakesEffect::in_new_communicators;
    std::map<CollectiveCall, CallAlgorithms> calls;
    std::string why_not;  // no algorithm can be chosen in this launch, and what helps; empty: they can
    /// Written while a call is tried out, so that one which the algorithm cannot do fails; absent: there is none.
    std::optional<ControlVariable> strictness;
    std::int64_t strict = 0;  // its value then
    /// Why `algorithm` would run another one instead and not say so; empty: it runs.
    std::string (*falls_back)(CollectiveCall call, std::string_view algorithm, Bytes segment,
                              CallSize const& size) = nullptr;
    /// Segment sizes worth a measurement of their own, in bytes; 0: the library's setting. Never empty.
    std::vector<Bytes> (*segments)(CollectiveCall call, std::string_view algorithm) = nullptr;
};

/// Of the library that this process runs. `version`: mpi_library_version().
[[nodiscard]] AlgorithmCatalogue find_algorithms(std::string_view version);

[[nodiscard]] AlgorithmCatalogue open_mpi_algorithms();
[[nodiscard]] AlgorithmCatalogue mpich_algorithms(std::string_view version);

/// The knobs of the method `algorithm` in words: "allreduce=basic_linear|ring|..., bcast=..., segment=SIZE".
[[nodiscard]] std::string knobs_of(AlgorithmCatalogue const& catalogue);

/// One choice of that method for each algorithm that changes one of `uses`. Where none can be chosen, one choice that
/// says why.
[[nodiscard]] std::vector<MethodChoice> algorithm_variants(AlgorithmCatalogue const& catalogue,
                                                           std::span<OperationUse const> uses);

}  // namespace dlmb::mpi
