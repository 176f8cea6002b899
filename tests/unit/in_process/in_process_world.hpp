// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What tests of the in_process backend share: a rank with backend and memory, and the error a launch ends with.
#pragma once

#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/memory/host_space.hpp"
#include "tests/unit/plan_memory.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <functional>
#include <optional>
#include <string>

namespace dlmb::in_process::testing {

/// One rank of a launch, with memory for one plan.
class TestRank {
public:
    explicit TestRank(Bootstrap& bootstrap)
        : bootstrap_(bootstrap),
          backend_(std::move(make_backend("in_process", {bootstrap, YieldPolicy::always})).value()) {}

    Buffers const& allocate(Plan const& plan) { return memory_.emplace(space_, plan).buffers; }
    std::unique_ptr<CompiledPlan> compile(Plan const& plan) {
        return std::move(backend_->compile(plan, allocate(plan), {})).value();
    }
    [[nodiscard]] Bootstrap& bootstrap() { return bootstrap_; }
    [[nodiscard]] Rank rank() const { return bootstrap_.rank(); }
    [[nodiscard]] Backend& backend() { return *backend_; }
    [[nodiscard]] Buffers const& buffers() const { return memory_->buffers; }
    [[nodiscard]] MemorySpace& space() { return space_; }

private:
    Bootstrap& bootstrap_;
    HostSpace space_;
    std::optional<PlanMemory> memory_;
    std::unique_ptr<Backend> backend_;
};

inline void run_test_ranks(int ranks, std::function<void(TestRank&)> const& body) {
    run_ranks(ranks, [&body](Bootstrap& bootstrap) {
        TestRank rank(bootstrap);
        body(rank);
    });
}

inline std::string error_of(int ranks, std::function<void(TestRank&)> const& body) {
    return message_of<Error>([&] { run_test_ranks(ranks, body); });
}

}  // namespace dlmb::in_process::testing
