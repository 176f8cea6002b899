// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// gpu_plan_overhead [--shared-gpu]
//
// dlmb_collective's compiled allreduce over the nccl backend against a loop of the same NCCL call, interleaved in one
// launch. Prints the ratio and decides nothing. Under --shared-gpu all ranks take turns on one device: the ratio still
// says what a plan adds, the times say nothing. exit 77: the backend cannot run here
#include "common/backend_kit/registry.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/memory/devices.hpp"
#include "patterns/collective/collective.hpp"
#include "tests/benchmarks/collective_overhead/contest.hpp"
#include "tests/gpu/bench/bare_loop.hpp"
#include "tests/unit/patterns/build_one.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdio>

namespace dlmb::benchmark {
namespace {

constexpr int exit_skipped = 77;
/// Of one size. Ranks that take turns on a GPU need 10 ms and more for a call.
struct Effort {
    int rounds;
    int burst;
};
constexpr Effort usual{51, 20};
constexpr Effort on_shared_gpu{11, 3};

void compare_size(Bootstrap& bootstrap, Backend& backend, BareLoop& bare, MemorySpace& space, Bytes bytes,
                  Effort const& effort) {
    PatternType const& type = collective::type();
    Parameters const parameters{{"operation", "allreduce"}, {"message-size", fmt::format("{}", bytes)}};
    Plan const plan = build_one(*type.make(resolve(type, "", parameters), {bootstrap.size(), bootstrap.size()}),
                                bootstrap.rank(), {});
    std::vector<Allocation> memory;
    Buffers buffers;
    buffers.kind = MemoryKind::cuda;
    for (Buffer const& each : plan.buffers) {
        memory.push_back(space.allocate(each.bytes));
        std::vector<std::byte> const zeros(each.bytes);  // sums stay ordinary numbers however often they run
        space.copy_in(memory.back().data(), zeros.data(), each.bytes);
        buffers.base.push_back(memory.back().data());
    }
    auto compiled = backend.compile(plan, buffers, {});
    if (!compiled) {
        throw Error(compiled.error().reason);
    }
    std::array<Loop, 2> const loops{
        [&](int iterations) { bare.all_reduce(buffers.base.front(), buffers.base.back(), bytes, iterations); },
        [&iteration = *compiled.value()](int iterations) {
            for (int i = 0; i < iterations; ++i) {
                iteration.launch();
                iteration.finish();
            }
        }};
    auto const times = compare(bootstrap, loops, effort.rounds, effort.burst);
    backend.quiesce();
    if (bootstrap.rank() == 0) {
        constexpr double ns_per_us = 1000;
        fmt::print("{:>10} {:>12.2f} {:>12.2f} {:>8.3f}\n", bytes, median(times[0]) / ns_per_us,
                   median(times[1]) / ns_per_us, median_ratio(times[1], times[0]));
        std::fflush(stdout);
    }
}

int run(Bootstrap& bootstrap, bool shared_gpu) {
    Devices const devices = find_devices();
    if (!devices.list.empty()) {
        auto const turn = static_cast<std::size_t>(bootstrap.local_rank()) % devices.list.size();
        use_device(devices.list[turn].index);
    }
    BackendContext context{bootstrap};
    context.options["nccl"]["shared_gpu"] = shared_gpu ? "yes" : "no";
    auto const backend = make_backend("nccl", context);
    if (!backend) {
        if (bootstrap.rank() == 0) {
            fmt::print("skipped: {}\n", backend.error().reason);
        }
        return exit_skipped;
    }
    std::string why_not;
    auto const space = make_memory_space(MemoryKind::cuda, why_not);
    BareLoop bare(bootstrap);
    if (bootstrap.rank() == 0) {
        fmt::print("{:>10} {:>12} {:>12} {:>8}\n", "size (B)", "NCCL (us)", "plan (us)", "ratio");
    }
    for (Bytes const bytes : {Bytes{8}, Bytes{4} << 10, Bytes{256} << 10, Bytes{16} << 20}) {
        compare_size(bootstrap, *backend.value(), bare, *space, bytes, shared_gpu ? on_shared_gpu : usual);
    }
    return 0;
}

}  // namespace
}  // namespace dlmb::benchmark

int main(int count, char** arguments) {
    try {
        dlmb::MpiSession const session(count, arguments, "single");
        auto const bootstrap = dlmb::make_mpi_bootstrap();
        try {
            bool const shared_gpu = count > 1 && std::string_view(arguments[1]) == "--shared-gpu";
            return dlmb::benchmark::run(*bootstrap, shared_gpu);
        } catch (std::exception const& error) {
            fmt::print(stderr, "gpu_plan_overhead: error: rank {}: {}\n", bootstrap->rank(), error.what());
            bootstrap->abort(1);
        }
    } catch (std::exception const& error) {
        fmt::print(stderr, "gpu_plan_overhead: error: {}\n", error.what());
        return 1;
    }
}
