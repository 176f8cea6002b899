// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/plan_payload.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/memory/devices.hpp"
#include "common/run/info/info.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace dlmb::run {
namespace {

/// Only calls that a signal handler may make.
void end_with_no(int /*signal*/) {
    constexpr std::string_view text = "dlmb_info: MPI takes device memory: no (it crashed or stood still with it; "
                                      "leave --mpi-device at auto or no)\n";
    (void)!write(STDERR_FILENO, text.data(), text.size());
    _exit(exit_cell_failed);
}

void end_with_no_when_stuck() {
    constexpr unsigned limit_s = 60;
    for (int const signal : {SIGSEGV, SIGBUS, SIGABRT, SIGALRM}) {
        (void)std::signal(signal, end_with_no);
    }
    (void)alarm(limit_s);
}

Plan one_message(Bootstrap const& bootstrap, Bytes bytes) {
    PlanBuilder builder(bootstrap.rank());
    GroupId const both = builder.group({{0, 1}});
    if (bootstrap.rank() == 0) {
        builder.send(both, 1, bytes, 0, -1, "message");
    } else {
        builder.recv(both, 0, bytes, 0, -1, "message");
    }
    return std::move(builder).finish();
}

/// With a self block: some libraries send device memory and crash when they copy it to themselves.
Plan all_to_all(Bootstrap const& bootstrap, Bytes bytes) {
    PlanBuilder builder(bootstrap.rank());
    std::array const blocks{bytes, bytes};
    builder.exchange(builder.group({{0, 1}}), blocks, blocks, "all-to-all");
    return std::move(builder).finish();
}

/// Collective. What was wrong on any rank; empty: everything arrived.
std::string try_plan(Bootstrap& bootstrap, Backend& backend, MemorySpace& memory, Plan const& plan,
                     std::string_view method) {
    std::vector<Allocation> allocations;
    Buffers buffers{MemoryKind::cuda, {}};
    for (Buffer const& buffer : plan.buffers) {
        buffers.base.push_back(allocations.emplace_back(memory.allocate(buffer.bytes)).data());
    }
    PlanPayload payload(memory, buffers, plan);
    payload.prepare(0);
    bootstrap.barrier();
    auto compiled = backend.compile(plan, buffers, parse_method(method));
    if (!compiled) {
        return compiled.error().reason;
    }
    compiled.value()->launch();
    compiled.value()->finish();
    backend.quiesce();
    std::vector<std::string> const problems = payload.verify(0);
    return first_refusal(bootstrap, problems.empty() ? "" : problems.front());
}

std::string try_everything(Bootstrap& bootstrap, Backend& backend, MemorySpace& memory) {
    constexpr Bytes eager = 1024;
    constexpr Bytes rendezvous = Bytes{8} << 20;
    for (Bytes const bytes : {eager, rendezvous}) {
        std::string problem = try_plan(bootstrap, backend, memory, one_message(bootstrap, bytes), "isend_irecv");
        for (std::string_view const method : {"alltoall", "alltoallv"}) {
            if (problem.empty()) {
                problem = try_plan(bootstrap, backend, memory, all_to_all(bootstrap, bytes), method);
            }
        }
        if (!problem.empty()) {
            return problem;
        }
    }
    return "";
}

void answer(Bootstrap const& bootstrap, std::string_view text) {
    if (bootstrap.rank() == 0) {
        fmt::print("MPI takes device memory: {}\n", text);
        (void)std::fflush(stdout);
    }
}

}  // namespace

int probe_mpi_device(Bootstrap& bootstrap) {
    if (bootstrap.size() != 2) {
        throw UsageError("--probe-mpi-device takes two ranks: mpirun -np 2 dlmb_info --probe-mpi-device");
    }
    Devices const devices = find_devices();
    std::string const no_device = first_refusal(bootstrap, devices.why_none);
    if (!no_device.empty()) {
        answer(bootstrap, fmt::format("not tried: {}", no_device));
        return exit_nothing_ran;
    }
    use_device(devices.list[static_cast<std::size_t>(bootstrap.local_rank()) % devices.list.size()].index);
    std::string why_not;
    auto const memory = make_memory_space(MemoryKind::cuda, why_not);
    auto const backend = make_backend("mpi", {.bootstrap = bootstrap, .options = {{"mpi", {{"device", "yes"}}}}});
    why_not = first_refusal(bootstrap, memory != nullptr && !backend ? backend.error().reason : why_not);
    if (!why_not.empty()) {
        answer(bootstrap, fmt::format("not tried: {}", why_not));
        return exit_nothing_ran;
    }
    end_with_no_when_stuck();
    std::string const problem = try_everything(bootstrap, *backend.value(), *memory);
    (void)alarm(0);
    answer(bootstrap, problem.empty() ? "yes (messages of 1 KiB and 8 MiB, and all-to-alls with a self block, arrived)"
                                      : fmt::format("no ({})", problem));
    return problem.empty() ? exit_ok : exit_cell_failed;
}

}  // namespace dlmb::run
