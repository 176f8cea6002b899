// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One step of a plan by loads and stores on memory shared with other ranks of the node, while it runs. start() and
// poll() are the hot path: nothing is allocated, nothing virtual is called, UCX is not called.
#pragma once

#include "common/backend_kit/algorithms/shared_plan.hpp"
#include "common/backends/ucx/local_work.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace dlmb::ucx {

/// A SharedStep with addresses.
struct SharedInstruction {
    algorithms::SharedAction action = algorithms::SharedAction::copy;
    std::uint64_t* counter = nullptr;  // await: the other's; publish: my own
    std::int64_t stages = 0;           // by which the counter grows in an iteration
    std::int64_t value = 0;            // beyond that at the iteration's begin
    LocalWork work;
};

class SharedLane {
public:
    /// `programs`: for even and odd iterations.
    explicit SharedLane(std::array<std::vector<SharedInstruction>, 2> programs) : programs_(std::move(programs)) {}

    void start();
    /// Does what can be done now, up to about a megabyte: what else this rank has to do is waiting. True: nothing is
    /// left.
    [[nodiscard]] bool poll();

private:
    std::array<std::vector<SharedInstruction>, 2> programs_;
    std::int64_t iteration_ = -1;
    std::vector<SharedInstruction> const* program_ = nullptr;
    std::size_t next_ = 0;
    Bytes done_ = 0;  // of the work in hand
};

}  // namespace dlmb::ucx
