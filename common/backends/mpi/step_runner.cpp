// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/step_runner.hpp"

#include "common/backends/mpi/compile_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlmb::mpi {
namespace {

/// Others make something that is collective or expensive for each plan: windows, persistent requests, communicators.
constexpr std::array<std::string_view, 8> methods_without_preparation{
    "default", "alltoall", "alltoallv", "blocking", "nonblocking", "isend_irecv", "pairwise", algorithm_method};

/// An exchange of equal blocks has another default.
std::string_view default_of(Plan const& plan) {
    auto const* const exchange = std::get_if<Exchange>(&plan.steps.front().operation);
    if (exchange == nullptr) {
        return "blocking";
    }
    std::size_t const ranks = plan.groups.at(exchange->group).members.size();
    return packed(exchange->send, ranks) && packed(exchange->recv, ranks) ? "alltoall" : "alltoallv";
}

}  // namespace

std::string StepRunner::refusal(Plan const& plan, MethodChoice const& choice) const {
    if (std::find(methods_without_preparation.begin(), methods_without_preparation.end(), choice.name) ==
        methods_without_preparation.end()) {
        return fmt::format("mpi: {}: is prepared for a plan that repeats, not for single steps", choice.name);
    }
    ChosenMethod const method = read_method(choice, default_of(plan));
    algorithms_.require_offered(method.algorithms);
    if (method.row->kind == MethodKind::algorithm) {
        if (std::string reason = algorithms_.refusal(plan, method.algorithms); !reason.empty()) {
            return reason;
        }
        if (steps_by_algorithm(plan, method.algorithms).empty()) {
            return fmt::format("mpi: {}: names no call of this operation", to_string(choice));
        }
    }
    PlanRequirements const own = plan_requirements(plan, method, limits_);
    return own.refusal.empty() && own.large ? "mpi: blocks or displacements beyond 2 GiB" : own.refusal;
}

void StepRunner::run(Plan const& plan, Buffers const& buffers, MethodChoice const& choice) {
    ChosenMethod const method = read_method(choice, default_of(plan));
    GroupCommunicators const& communicators = algorithms_.prepare(plan, method.algorithms, false);
    algorithms_.activate(method.algorithms);
    std::vector<PreparedCall> const calls =
        compile_plan({plan, method, communicators, limits_, &buffers, nullptr, false, false, false, idle_});
    calls.front().start_and_wait();
}

}  // namespace dlmb::mpi
