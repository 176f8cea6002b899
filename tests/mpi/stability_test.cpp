// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Flare (arXiv 2106.15565): every promise of a method that its sums have the same bits, held against the arrivals of
// 200 iterations and against a second compilation.
#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/measure/validation/bit_patterns.hpp"
#include "common/memory/host_space.hpp"
#include "tests/unit/plan_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace dlmb::measure {
namespace {

constexpr std::uint64_t jittered = 200;
constexpr OperationKind reductions[] = {OperationKind::all_reduce, OperationKind::reduce,
                                        OperationKind::reduce_scatter};

Plan sum_plan(Bootstrap const& bootstrap, OperationKind kind, Bytes bytes_per_rank) {
    PlanBuilder builder(bootstrap.rank());
    GroupId const all = builder.group(world_of(bootstrap.size()));
    Bytes const bytes = bytes_per_rank * static_cast<Bytes>(bootstrap.size());
    if (kind == OperationKind::all_reduce) {
        builder.all_reduce(all, bytes, Element::fp32, Reduction::sum, "sum");
    } else if (kind == OperationKind::reduce) {
        builder.reduce(all, 0, bytes, Element::fp32, Reduction::sum, "sum");
    } else {
        builder.reduce_scatter(all, bytes, Element::fp32, Reduction::sum, "sum");
    }
    return std::move(builder).finish();
}

struct Sums {
    std::uint64_t patterns = 0;
    std::vector<std::byte> bits;  // of all buffers after the last iteration
};

/// Collective.
Sums sums_of(Bootstrap& bootstrap, Backend& backend, Plan const& plan, MethodChoice const& method,
             std::uint64_t iterations) {
    HostSpace space;
    PlanMemory const memory(space, plan);
    Buffers const& buffers = memory.buffers;
    for (BufferId id = 0; id < plan.buffers.size(); ++id) {
        std::fill_n(buffers.base[id], plan.buffers[id].bytes, std::byte{});
    }
    auto const compiled = std::move(backend.compile(plan, buffers, method)).value();
    compiled->activate();
    Sums sums;
    sums.patterns = count_bit_patterns(bootstrap, space, buffers, plan, *compiled, iterations, 1, [] {});
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        sums.bits.insert(sums.bits.end(), buffers.base[i], buffers.base[i] + plan.buffers[i].bytes);
    }
    backend.quiesce();
    return sums;
}

TEST(BitwiseStability, IsKeptByEveryMethodThatPromisesIt) {
    auto const bootstrap = make_mpi_bootstrap();
    BackendPool pool(BackendContext{*bootstrap});
    std::uint64_t held = 0;
    for (BackendEntry const& entry : backend_entries()) {
        auto const backend = entry.name == "tuned" ? Unsupported{"it adds nothing itself"} : pool.backend(entry.name);
        if (!backend || !backend.value()->supports(MemoryKind::host)) {
            continue;
        }
        for (MethodInfo const& method : backend.value()->methods()) {
            for (OperationKind const kind : reductions) {
                // Below and above the size at which the choice `auto` of ucx changes.
                for (Bytes const bytes_per_rank : {Bytes{256}, Bytes{40'000}}) {
                    if (!method.stable.over_arrival.has(kind)) {
                        continue;
                    }
                    SCOPED_TRACE(std::string(entry.name) + " " + std::string(method.name) + " " +
                                 std::string(name_of(kind)));
                    Plan const plan = sum_plan(*bootstrap, kind, bytes_per_rank);
                    MethodChoice const choice{std::string(method.name), {}};
                    Sums const once = sums_of(*bootstrap, *backend.value(), plan, choice, jittered);
                    Sums const again = sums_of(*bootstrap, *backend.value(), plan, choice, 2);
                    EXPECT_EQ(once.patterns, 1U);
                    EXPECT_EQ(again.patterns, 1U);
                    EXPECT_EQ(once.bits, again.bits) << "compiled again";
                    ++held;
                }
                EXPECT_FALSE(method.stable.over_rank_counts.has(kind))
                    << entry.name << " " << method.name << ": whoever promises that needs a check here";
            }
        }
    }
    EXPECT_GE(held, 4U) << "mpi promises it of two operations at two sizes";
}

}  // namespace
}  // namespace dlmb::measure
