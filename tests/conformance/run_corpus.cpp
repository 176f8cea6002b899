// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/run_corpus.hpp"

#include "common/backend_kit/plan_payload.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace dlmb::conformance {
namespace {

constexpr std::uint32_t iterations = 2;

/// One allocation for all buffers of a plan, each on pages of its own. Alike on all ranks.
struct Arena {
    Allocation memory;
    Buffers buffers;
};

Arena make_arena(std::span<Plan const> all_ranks, MemorySpace& space) {
    constexpr Bytes page = 4096;
    std::vector<Bytes> sizes;
    for (Plan const& plan : all_ranks) {
        sizes.resize(std::max(sizes.size(), plan.buffers.size()));
        for (std::size_t id = 0; id < plan.buffers.size(); ++id) {
            sizes[id] = std::max(sizes[id], plan.buffers[id].bytes);
        }
    }
    std::vector<Bytes> offsets;
    Bytes total = 0;
    for (Bytes const size : sizes) {
        offsets.push_back(total);
        total += (size + page - 1) / page * page;
    }
    Arena arena{space.allocate(total + page), {space.kind(), {}}};
    for (Bytes const offset : offsets) {
        arena.buffers.base.push_back(arena.memory.data() + offset);
    }
    return arena;
}

void run_plan(CompiledPlan& compiled, PlanPayload& payload, std::string const& what, Bootstrap& bootstrap,
              CorpusResult& result) {
    for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
        payload.prepare(iteration);
        compiled.watch_signals(&payload.watch_signals(iteration));
        // A library may write into receive memory from the moment a peer launches, guard or not.
        bootstrap.barrier();
        compiled.launch();
        compiled.finish();
        for (std::string const& problem : payload.verify(iteration)) {
            result.problems.push_back(
                fmt::format("{}, iteration {}, rank {}: {}", what, iteration, bootstrap.rank(), problem));
        }
        ++result.iterations;
    }
    result.blocks_checked += payload.blocks_checked();
}

void run_entry(CorpusEntry const& entry, std::string_view method, Bootstrap& bootstrap, Backend& backend,
               MemorySpace& memory, CorpusResult& result) {
    Plan const& plan = entry.plans[static_cast<std::size_t>(bootstrap.rank())];
    Arena const arena = make_arena(entry.plans, memory);
    PlanPayload payload(memory, arena.buffers, plan);
    auto compiled = backend.compile(plan, arena.buffers, parse_method(method));
    if (!compiled) {
        result.declined.push_back({entry.name, std::string(method), compiled.error().reason, is_required(entry)});
        return;
    }
    std::string const what = fmt::format("{} {}, {}", backend.name(), method, entry.name);
    if (std::getenv("DLMB_CONFORMANCE_VERBOSE") != nullptr && bootstrap.rank() == 0) {
        fmt::print(stderr, "{} memory: {}\n", name_of(memory.kind()), what);  // the last one is what hangs
    }
    run_plan(*compiled.value(), payload, what, bootstrap, result);
    if (compiled.value()->marks().size() != plan.steps.size()) {
        result.problems.push_back(
            fmt::format("{}: {} marks for {} steps", what, compiled.value()->marks().size(), plan.steps.size()));
    }
    if (compiled.value()->steps_done() != plan.steps.size()) {
        result.problems.push_back(
            fmt::format("{}: {} of {} steps are marked done", what, compiled.value()->steps_done(), plan.steps.size()));
    }
    backend.quiesce();
    SUCCEED();  // tells tests/main that this entry is done: the limits by which it finds a hang begin anew
}

}  // namespace

std::vector<MethodInfo> methods_to_run(CorpusEntry const& entry, Backend const& backend, MemoryKind memory) {
    std::vector<MethodInfo> methods = methods_for(backend.methods_on(memory), uses_of(entry));
    if (methods.empty()) {
        methods.push_back(
            backend.methods_on(memory).front());  // nothing to choose, for example ranks that only compute
    }
    return methods;
}

std::uint64_t runs_of(std::span<CorpusEntry const> entries, Backend const& backend, MemoryKind memory) {
    std::uint64_t runs = 0;
    for (CorpusEntry const& entry : entries) {
        runs += methods_to_run(entry, backend, memory).size();
    }
    return runs;
}

CorpusResult run_entries(std::span<CorpusEntry const> entries, Bootstrap& bootstrap, Backend& backend,
                         MemorySpace& memory) {
    CorpusResult result;
    for (CorpusEntry const& entry : entries) {
        for (MethodInfo const& method : methods_to_run(entry, backend, memory.kind())) {
            run_entry(entry, method.name, bootstrap, backend, memory, result);
        }
    }
    return result;
}

CorpusResult run_method(std::span<CorpusEntry const> entries, std::string_view choice, Bootstrap& bootstrap,
                        Backend& backend, MemorySpace& memory) {
    CorpusResult result;
    for (CorpusEntry const& entry : entries) {
        auto const methods = methods_for(backend.methods(), uses_of(entry));  // also one that needs a choice of knobs
        if (std::any_of(methods.begin(), methods.end(),
                        [name = parse_method(choice).name](MethodInfo const& method) { return method.name == name; })) {
            run_entry(entry, choice, bootstrap, backend, memory, result);
        }
    }
    return result;
}

CorpusResult run_corpus(Bootstrap& bootstrap, Backend& backend, MemorySpace& memory) {
    std::vector<CorpusEntry> const entries = corpus(bootstrap.size());
    return run_entries(entries, bootstrap, backend, memory);
}

}  // namespace dlmb::conformance
