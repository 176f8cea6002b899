// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Medians in us of one collective over all ranks, by size: mpi's library call and every method of ucx that has the
// operation. All of a size compete in turns.
#include "common/backend/registry.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/plan/builder.hpp"
#include "tests/benchmarks/ucx_vs_mpi/contest.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <numeric>

namespace dlmb::benchmark {
namespace {

Plan plan_of(OperationKind kind, Bytes bytes, Bootstrap const& bootstrap) {
    PlanBuilder builder(bootstrap.rank());
    Group world;
    world.members.resize(static_cast<std::size_t>(bootstrap.size()));
    std::iota(world.members.begin(), world.members.end(), 0);
    GroupId const all = builder.group(world);
    std::vector<Bytes> const blocks(world.members.size(), bytes / world.members.size());
    switch (kind) {
    case OperationKind::all_reduce:
        builder.all_reduce(all, bytes, Element::fp32, Reduction::sum, "allreduce");
        break;
    case OperationKind::reduce_scatter:
        builder.reduce_scatter(all, bytes, Element::fp32, Reduction::sum, "reduce_scatter");
        break;
    case OperationKind::all_gather:
        builder.all_gather(all, bytes, Element::fp32, "allgather");
        break;
    case OperationKind::broadcast:
        builder.broadcast(all, 0, bytes, Element::fp32, "broadcast");
        break;
    default:
        builder.exchange(all, blocks, blocks, "exchange");
        break;
    }
    return std::move(builder).finish();
}

/// One line of the table; the first line of an operation names the methods.
void compete(OperationKind kind, Bytes bytes, bool first_line, Bootstrap& bootstrap, Backend& mpi, Backend& ucx) {
    Plan const plan = plan_of(kind, bytes, bootstrap);
    std::string why_not;
    auto const memory = make_memory_space(MemoryKind::host, why_not);
    std::vector<Allocation> allocations;
    Buffers buffers;
    for (Buffer const& each : plan.buffers) {
        allocations.push_back(memory->allocate(each.bytes));
        memory->fill(allocations.back().data(), each.bytes, guard_key);  // touches every page
        buffers.base.push_back(allocations.back().data());
    }
    std::vector<std::unique_ptr<CompiledPlan>> compiled;
    std::vector<Candidate> candidates;
    std::string heading = fmt::format("{:>14}", name_of(kind));
    auto const add = [&](Backend& backend, std::string const& method) {
        auto made = backend.compile(plan, buffers, parse_method(method));
        backend.quiesce();
        if (made) {
            compiled.push_back(std::move(made).value());
            candidates.push_back({method, [run = compiled.back().get()] {
                                      run->launch();
                                      run->finish();
                                  }});
            heading += fmt::format("{:>19}", &backend == &mpi ? "mpi" : method);
        }
    };
    add(mpi, "default");
    for (MethodInfo const& method : ucx.methods()) {
        if (method.operations.has(kind)) {
            add(ucx, std::string(method.name));
        }
    }
    Rounds const rounds = bytes <= (Bytes{256} << 10) ? Rounds{31, 20} : Rounds{15, 2};
    std::vector<double> const times = medians(bootstrap, candidates, rounds);
    ucx.quiesce();
    if (bootstrap.rank() == 0) {
        std::string line = fmt::format("{:>14}", human_bytes(bytes));
        for (double const time : times) {
            line += fmt::format("{:>19.1f}", time / 1000);
        }
        fmt::print("{}{}\n", first_line ? heading + "\n" : "", line);
        std::fflush(stdout);
    }
}

void run(Bootstrap& bootstrap) {
    auto const mpi = std::move(make_backend("mpi", {bootstrap})).value();
    auto const ucx = std::move(make_backend("ucx", {bootstrap})).value();
    for (OperationKind const kind : {OperationKind::all_reduce, OperationKind::reduce_scatter,
                                     OperationKind::all_gather, OperationKind::broadcast, OperationKind::exchange}) {
        bool first_line = true;
        for (Bytes bytes = 256; bytes <= (Bytes{16} << 20); bytes *= 8) {
            compete(kind, bytes, first_line, bootstrap, *mpi, *ucx);
            first_line = false;
        }
    }
}

}  // namespace
}  // namespace dlmb::benchmark

int main(int argc, char** argv) {
    dlmb::MpiSession const session(argc, argv);
    auto const bootstrap = dlmb::make_mpi_bootstrap();
    try {
        dlmb::benchmark::run(*bootstrap);
    } catch (std::exception const& error) {
        fmt::print(stderr, "ucx_collectives: error: rank {}: {}\n", bootstrap->rank(), error.what());
        bootstrap->abort(1);
    }
    return 0;
}
