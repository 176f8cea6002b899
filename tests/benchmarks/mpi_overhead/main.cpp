// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs both loops the same number of times over the same buffers. Started by the script `count` under callgrind on one
// of 4 ranks; alone it prints nothing but the number of iterations.
#include "common/backend_kit/registry.hpp"
#include "common/backends/mpi/mpi_backend.hpp"
#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/formats/plan/world.hpp"
#include "tests/benchmarks/mpi_overhead/loops.hpp"
#include "tests/benchmarks/over_mpi.hpp"

#include <fmt/core.h>

namespace dlmb::overhead {
namespace {

constexpr int iterations = 1000;
constexpr Bytes counts_bytes = 256;

Bytes ragged(Rank from, Rank to) {
    return static_cast<Bytes>(64 * (1 + (from * 3 + to) % 4));
}

Plan moe_plan(Rank me, int ranks) {
    std::vector<Bytes> out;
    std::vector<Bytes> in;
    for (Rank peer = 0; peer < ranks; ++peer) {
        out.push_back(ragged(me, peer));
        in.push_back(ragged(peer, me));
    }
    PlanBuilder builder(me);
    GroupId const group = builder.group(consecutive_group({ranks, ranks}, me, ranks));
    StepId const counts =
        builder.all_gather(group, counts_bytes * static_cast<Bytes>(ranks), Element::byte, "count_exchange");
    StepId const dispatch = builder.exchange(group, out, in, "dispatch", {counts});
    builder.exchange(group, in, out, "combine", {dispatch});
    return std::move(builder).finish();
}

void compare(Bootstrap& bootstrap) {
    Plan const plan = moe_plan(bootstrap.rank(), bootstrap.size());
    std::vector<std::vector<std::byte>> memory;
    Buffers buffers;
    for (Buffer const& buffer : plan.buffers) {
        buffers.base.push_back(memory.emplace_back(buffer.bytes).data());
    }
    std::unique_ptr<Backend> const backend = mpi::make_backend({bootstrap}).value();
    auto compiled = backend->compile(plan, buffers, {"alltoallv", {}});
    if (!compiled) {
        throw Error(compiled.error().reason);
    }
    auto const& gather = std::get<Collective>(plan.steps.at(0).operation);
    auto const& dispatch = std::get<Exchange>(plan.steps.at(1).operation);
    auto const& combine = std::get<Exchange>(plan.steps.at(2).operation);
    auto const ranks = static_cast<std::size_t>(bootstrap.size());
    using benchmark::side;
    HandWritten const loop{buffers.base[gather.send.buffer] + gather.send.offset,
                           buffers.base[gather.recv.buffer] + gather.recv.offset,
                           static_cast<int>(counts_bytes),
                           side(dispatch.send, buffers.base[dispatch.send_buffer], ranks),
                           side(dispatch.recv, buffers.base[dispatch.recv_buffer], ranks),
                           side(combine.send, buffers.base[combine.send_buffer], ranks),
                           side(combine.recv, buffers.base[combine.recv_buffer], ranks),
                           MPI_COMM_WORLD};
    // Once for real and not counted, so that symbols are bound and both loops are known to work.
    compiled.value()->launch();
    compiled.value()->finish();
    hand_written_once(loop);
    bootstrap.barrier();
    skip_mpi(true);
    dlmb_overhead_compiled(*compiled.value(), iterations);
    dlmb_overhead_hand_written(loop, iterations);
    skip_mpi(false);
    bootstrap.barrier();
    if (bootstrap.rank() == 0) {
        fmt::print("iterations {}\n", iterations);
    }
}

}  // namespace
}  // namespace dlmb::overhead

int main(int argc, char** argv) {
    return dlmb::benchmark::over_mpi("mpi_overhead", argc, argv, [](dlmb::Bootstrap& bootstrap, auto /*words*/) {
        dlmb::overhead::compare(bootstrap);
    });
}
