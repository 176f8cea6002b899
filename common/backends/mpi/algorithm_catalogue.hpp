// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The algorithms that an MPI library offers for its collectives, as it says at run time, and the variables that choose
// among them.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/mpi/control_variable.hpp"
#include "common/bootstrap/mpi/communicator.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::mpi {

/// Whether the step may be done with the call: steps with shares take the vector forms and MPI_Reduce_scatter, steps
/// without the others, exchanges either.
[[nodiscard]] bool does(MpiCall call, Operation const& operation);

/// Settings of an algorithm besides its name.
enum class AlgorithmSetting : std::uint8_t { segment, tree_fanout, chain_fanout, max_requests };
inline constexpr std::array every_algorithm_setting{AlgorithmSetting::segment, AlgorithmSetting::tree_fanout,
                                                    AlgorithmSetting::chain_fanout, AlgorithmSetting::max_requests};
[[nodiscard]] std::string_view name_of(AlgorithmSetting setting);

/// Which algorithms a method asks for, read from its knobs: "algorithm:allreduce=ring:segment=64K".
struct LibraryAlgorithms {
    std::map<MpiCall, std::string> algorithms;          // by call: the library's name of the algorithm
    std::map<AlgorithmSetting, std::int64_t> settings;  // segment in bytes, 0: not cut; the others are counts

    [[nodiscard]] bool empty() const { return algorithms.empty(); }
    /// Call of this plan's exchanges, where the choice names one.
    [[nodiscard]] std::optional<MpiCall> exchange_call() const;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(LibraryAlgorithms const&) const = default;
};

/// When a written variable counts.
enum class TakesEffect : std::uint8_t { in_new_communicators, at_the_next_call };

/// Algorithms of one call.
struct CallAlgorithms {
    ControlVariable variable;
    std::vector<NamedValue> algorithms;  // without the library's own decision, which is the variable's value 0
    std::map<AlgorithmSetting, ControlVariable> settings;
};

/// A call of a plan as far as it decides which algorithm really runs.
struct CallSize {
    int ranks = 0;
    Bytes elements = 0;  // of the call: of one rank's share (mean) where there are shares
    Bytes element_bytes = 1;
};

struct AlgorithmCatalogue {
    std::string family;  // as in a tuning table: "open_mpi.tuned", "mpich"; empty: nothing is known of this library
    TakesEffect takes_effect = TakesEffect::in_new_communicators;
    InfoKey info;  // of communicators made while a variable is written, without which it may not count
    std::map<MpiCall, CallAlgorithms> calls;
    std::string why_not;  // no algorithm can be chosen in this launch, and what helps; empty: they can
    /// Written while a call is tried out, so that one which the algorithm cannot do fails; absent: there is none.
    std::optional<ControlVariable> strictness;
    std::int64_t strict = 0;  // its value then
    /// Why `algorithm` would run another one instead and not say so; empty: it runs.
    std::string (*falls_back)(MpiCall call, std::string_view algorithm, Bytes segment, CallSize const& size) = nullptr;
    /// Segment sizes worth a measurement of their own, in bytes; 0: the library's setting. Never empty.
    std::vector<Bytes> (*segments)(MpiCall call, std::string_view algorithm) = nullptr;
};

/// The catalogue of the library that this process runs. `version`: mpi_library_version().
[[nodiscard]] AlgorithmCatalogue find_algorithms(std::string_view version);

[[nodiscard]] AlgorithmCatalogue open_mpi_algorithms();

/// The knobs of the method `algorithm` in words: "allreduce=basic_linear|ring|..., bcast=..., segment=SIZE".
[[nodiscard]] std::string knobs_of(AlgorithmCatalogue const& catalogue);

/// One choice of that method for each algorithm that changes one of `uses`. Where none can be chosen, one choice that
/// says why.
[[nodiscard]] std::vector<MethodChoice> algorithm_variants(AlgorithmCatalogue const& catalogue,
                                                           std::span<OperationUse const> uses);

}  // namespace dlmb::mpi
