// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What tests of the in_process backend share: a rank with backend and memory, and the error a launch ends with.
#pragma once

#include "common/backend_kit/registry.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/memory/host_space.hpp"

#include <functional>
#include <string>

namespace dlmb::in_process::testing {

/// One rank of a launch, with memory for one plan.
class TestRank {
public:
    explicit TestRank(Bootstrap& bootstrap)
        : bootstrap_(bootstrap),
          backend_(std::move(make_backend("in_process", {bootstrap, YieldPolicy::always})).value()) {}

    Buffers const& allocate(Plan const& plan) {
        for (Buffer const& buffer : plan.buffers) {
            allocations_.push_back(space_.allocate(std::max<Bytes>(buffer.bytes, 1)));
            buffers_.base.push_back(allocations_.back().data());
        }
        return buffers_;
    }
    std::unique_ptr<CompiledPlan> compile(Plan const& plan) {
        return std::move(backend_->compile(plan, allocate(plan), {})).value();
    }
    [[nodiscard]] Bootstrap& bootstrap() { return bootstrap_; }
    [[nodiscard]] Rank rank() const { return bootstrap_.rank(); }
    [[nodiscard]] Backend& backend() { return *backend_; }
    [[nodiscard]] Buffers const& buffers() const { return buffers_; }
    [[nodiscard]] MemorySpace& space() { return space_; }

private:
    Bootstrap& bootstrap_;
    HostSpace space_;
    std::vector<Allocation> allocations_;
    Buffers buffers_;
    std::unique_ptr<Backend> backend_;
};

inline void run_test_ranks(int ranks, std::function<void(TestRank&)> const& body) {
    run_ranks(ranks, [&body](Bootstrap& bootstrap) {
        TestRank rank(bootstrap);
        body(rank);
    });
}

inline std::string error_of(int ranks, std::function<void(TestRank&)> const& body) {
    try {
        run_test_ranks(ranks, body);
    } catch (Error const& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace dlmb::in_process::testing
