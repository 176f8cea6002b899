// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// gpu_plan_overhead [--shared-gpu]
//
// What DLMB adds to NCCL: compiled plans over the nccl backend against a loop of the same NCCL calls, interleaved in
// one launch. `each`: every iteration is waited for, as --timing isolated does; `queue`: all of a burst together, as
// --timing stream and nccl do. Prints times, ratio and difference and decides nothing. Under --shared-gpu all ranks
// take turns on one device: the ratio still says what a plan adds, the times say nothing. exit 77: the backend cannot
// run here
#include "common/backend_kit/registry.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/memory/devices.hpp"
#include "patterns/collective/collective.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"
#include "tests/benchmarks/collective_overhead/contest.hpp"
#include "tests/gpu/bench/bare_calls.hpp"
#include "tests/unit/patterns/build_one.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace dlmb::benchmark {
namespace {

constexpr int exit_skipped = 77;
/// Of one row. Ranks that take turns on a GPU need 10 ms and more for a call.
struct Effort {
    int rounds;
    int burst;
};
constexpr Effort usual{41, 20};
constexpr Effort on_shared_gpu{7, 3};

/// What is compared: a pattern's plan, by a method of nccl.
struct Subject {
    std::string name;
    PatternType const& type;
    Parameters parameters;
    std::string preset;
    char const* method;
    BareExchange exchange = BareExchange::grouped;
};

std::vector<Subject> subjects(int ranks) {
    std::vector<Subject> all;
    for (Bytes const bytes : {Bytes{8}, Bytes{32} << 10, Bytes{2} << 20, Bytes{16} << 20}) {
        auto const add = [&](char const* operation, char const* method, BareExchange exchange = BareExchange::grouped) {
            all.push_back({fmt::format("{} {} {}", operation, method, bytes),
                           collective::type(),
                           {{"operation", operation}, {"message-size", fmt::format("{}", bytes)}},
                           "",
                           method,
                           exchange});
        };
        add("allreduce", "native");
        add("allgather", "native");
        add("alltoall", "grouped");
        add("alltoall", "native", BareExchange::native);
        if (ranks > 1) {
            add("sendrecv", "grouped");
        }
    }
    all.push_back({"moe_alltoall grouped", moe_alltoall::type(), {{"tokens", "256"}}, "deepseek-v3", "grouped"});
    return all;
}

struct Prepared {
    Plan plan;
    std::vector<Allocation> memory;
    Buffers buffers{MemoryKind::cuda, {}};
    std::unique_ptr<CompiledPlan> compiled;
};

Prepared prepare(Bootstrap& bootstrap, Backend& backend, MemorySpace& space, Subject const& subject) {
    Prepared made;
    made.plan = build_one(*subject.type.make(resolve(subject.type, subject.preset, subject.parameters),
                                             {bootstrap.size(), bootstrap.size()}),
                          bootstrap.rank(), {});
    for (Buffer const& each : made.plan.buffers) {
        made.memory.push_back(space.allocate(each.bytes));
        std::vector<std::byte> const zeros(each.bytes);  // sums stay ordinary numbers however often they run
        space.copy_in(made.memory.back().data(), zeros.data(), each.bytes);
        made.buffers.base.push_back(made.memory.back().data());
    }
    auto compiled = backend.compile(made.plan, made.buffers, parse_method(subject.method));
    if (!compiled) {
        throw Error(compiled.error().reason);
    }
    made.compiled = std::move(compiled).value();
    made.compiled->keep_marks(false);
    return made;
}

void compare_one(Bootstrap& bootstrap, Backend& backend, BareLoop& bare, MemorySpace& space, Subject const& subject,
                 Effort const& effort) {
    Prepared const prepared = prepare(bootstrap, backend, space, subject);
    CompiledPlan& iteration = *prepared.compiled;
    BareLoop::Call const call = bare_calls(prepared.plan, prepared.buffers, subject.exchange);
    for (BareLoop::Wait const wait : {BareLoop::Wait::after_each, BareLoop::Wait::at_end}) {
        bool const each = wait == BareLoop::Wait::after_each;
        std::array<Loop, 2> const loops{[&](int iterations) { bare.run(call, iterations, wait); },
                                        [&](int iterations) {
                                            for (int i = 0; i < iterations; ++i) {
                                                iteration.launch();
                                                if (each || i + 1 == iterations) {
                                                    iteration.finish();
                                                }
                                            }
                                        }};
        auto const times = compare(bootstrap, loops, effort.rounds, effort.burst);
        backend.quiesce();
        if (bootstrap.rank() == 0) {
            constexpr double ns_per_us = 1000;
            fmt::print("{:<32} {:<5} {:>9.2f} {:>9.2f} {:>7.3f} {:>+8.2f}\n", subject.name, each ? "each" : "queue",
                       statistics::median(times[0]) / ns_per_us, statistics::median(times[1]) / ns_per_us,
                       median_ratio(times[1], times[0]),
                       (statistics::median(times[1]) - statistics::median(times[0])) / ns_per_us);
            std::fflush(stdout);
        }
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
        fmt::print("{:<32} {:<5} {:>9} {:>9} {:>7} {:>8}\n", "plan, method, size (B)", "waits", "NCCL (us)",
                   "plan (us)", "ratio", "us more");
    }
    for (Subject const& subject : subjects(bootstrap.size())) {
        compare_one(bootstrap, *backend.value(), bare, *space, subject, shared_gpu ? on_shared_gpu : usual);
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
