// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs dlmb_plain_mpi under a launcher and takes a fingerprint of the algorithm that ran: the functions of coll/base
// that coll/tuned called (Open MPI, by LD_DEBUG=bindings) or the number of messages of all ranks (MPICH, by
// LD_PRELOAD). Needs no message from the library, which release builds do not print.
#pragma once

#include "common/app/tune/consumers/consumers.hpp"
#include "common/app/tune/consumers/probes.hpp"

#include <map>
#include <string>

namespace dlmb::app::tune {

using Environment = std::map<std::string, std::string>;

class MpiTrial {
public:
    MpiTrial(MpiLibraryFound library, std::string mpiexec);

    /// "ompi_coll_base_allreduce_intra_ring", "240 messages", or how the run failed.
    [[nodiscard]] std::string fingerprint(Probe const& probe, Environment const& environment);

    /// What makes the library run an algorithm whatever the size is.
    [[nodiscard]] Environment force(tuning::MpiCollective collective, std::string const& algorithm) const;

    /// Median time of a call on rank 0; 0 where the run failed.
    [[nodiscard]] double nanoseconds(Probe const& probe, Environment const& environment) const;

private:
    [[nodiscard]] std::vector<std::string> command(Probe const& probe, Environment const& environment, int calls) const;
    [[nodiscard]] std::string bound_functions(Probe const& probe, Environment environment) const;
    [[nodiscard]] std::string messages(Probe const& probe, Environment environment) const;

    MpiLibraryFound library_;
    std::string mpiexec_;
    std::map<std::pair<Probe, Environment>, std::string> seen_;
};

}  // namespace dlmb::app::tune
