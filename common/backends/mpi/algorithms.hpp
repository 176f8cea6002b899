// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Lets the steps of a plan run by chosen algorithms of the MPI library, and the others by the library's own decision.
#pragma once

#include "common/backends/mpi/algorithm_catalogue.hpp"
#include "common/backends/mpi/communicators.hpp"
#include "common/backends/mpi/prepared_call.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace dlmb::mpi {

/// Within the life of MPI. Every variable has its old value after release(), and when this is gone.
class Algorithms {
public:
    Algorithms();

    [[nodiscard]] AlgorithmCatalogue const& catalogue() const { return catalogue_; }
    /// Throws UsageError for a name or a setting that this library does not offer.
    void require_offered(LibraryAlgorithms const& choice) const;
    /// Why the choice cannot be had at all, or would be another algorithm for a step of `plan`; empty: it can.
    [[nodiscard]] std::string refusal(Plan const& plan, LibraryAlgorithms const& choice) const;

    /// Collective: communicators for the collective steps of `plan` that obey `choice`, kept with this.
    [[nodiscard]] GroupCommunicators const& prepare(Plan const& plan, LibraryAlgorithms const& choice, bool pairs);
    /// From now on calls obey `choice`, where the library looks at each call; elsewhere prepare() did it (false: or
    /// they do already). Not for the timed region. `strictly`: a call that the algorithm cannot do fails.
    bool activate(LibraryAlgorithms const& choice, bool strictly = false);
    void release();

    /// For the record; what prepare() or activate() read back is among them.
    [[nodiscard]] Provenance facts(LibraryAlgorithms const& choice) const;

private:
    void write(LibraryAlgorithms const& choice);

    AlgorithmCatalogue catalogue_;
    WrittenVariables written_;
    LibraryAlgorithms active_;
    GroupCommunicators plain_;
    std::map<LibraryAlgorithms, GroupCommunicators> obeying_;
    std::map<LibraryAlgorithms, std::string> read_back_;
};

/// The steps of `plan` whose call the choice names.
[[nodiscard]] std::vector<StepId> steps_by_algorithm(Plan const& plan, LibraryAlgorithms const& choice);

/// Whether an algorithm can do the calls of a plan is only known to the library, when it is called. Collective: makes
/// once, group by group, the calls that `choice` names, whatever is in their buffers. Why the library cannot do them by
/// these algorithms; empty: it just did. `calls`: by step of `plan`.
[[nodiscard]] std::string applicability_test(Plan const& plan, std::span<PreparedCall const> calls,
                                             LibraryAlgorithms const& choice, Algorithms& algorithms,
                                             Bootstrap& bootstrap);

}  // namespace dlmb::mpi
