// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/rounds.hpp"

#include "common/backends/mpi/chunks.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"
#include "common/plan/group_index.hpp"

namespace dlmb::mpi {

std::vector<std::uint64_t> agree_on_rounds(Plan const& plan, Bytes chunk_bytes, Communicators const& communicators) {
    // Sorted by members, as communicators are made: ranks that share several groups come to them in one order.
    std::map<std::vector<Rank>, std::vector<StepId>> exchanges;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        if (auto const* exchange = std::get_if<Exchange>(&plan.steps[step].operation)) {
            exchanges[plan.groups.at(exchange->group).members].push_back(step);
        }
    }
    std::vector<std::uint64_t> by_step(plan.steps.size(), 1);
    for (auto const& [members, steps] : exchanges) {
        std::vector<std::uint64_t> rounds;
        for (StepId const step : steps) {
            auto const& exchange = std::get<Exchange>(plan.steps[step].operation);
            Group const& group = plan.groups.at(exchange.group);
            rounds.push_back(rounds_of(exchange, chunk_bytes, rank_in(group, plan.me).value()));
        }
        check(MPI_Allreduce(MPI_IN_PLACE, rounds.data(), static_cast<int>(rounds.size()), MPI_UINT64_T, MPI_MAX,
                            communicators.of(Group{members})),
              "MPI_Allreduce");
        for (std::size_t i = 0; i < steps.size(); ++i) {
            by_step[steps[i]] = rounds[i];
        }
    }
    return by_step;
}

}  // namespace dlmb::mpi
