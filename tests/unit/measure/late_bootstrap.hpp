// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A test double: a real bootstrap whose barrier returns late on this rank when a script says so, as if the system had
// taken the processor away just then.
#pragma once

#include "tests/unit/forwarding_bootstrap.hpp"

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

namespace dlmb::measure::testing {

class LateBootstrap final : public ForwardingBootstrap {
public:
    /// `lateness(n)`: how much later the n-th barrier_max returns here.
    LateBootstrap(Bootstrap& inner, std::function<std::chrono::nanoseconds(std::uint64_t)> lateness)
        : ForwardingBootstrap(inner), lateness_(std::move(lateness)) {}

    [[nodiscard]] std::int64_t barrier_max(std::int64_t mine) override {
        std::int64_t const largest = ForwardingBootstrap::barrier_max(mine);
        std::this_thread::sleep_for(lateness_(barriers_++));
        return largest;
    }

private:
    std::function<std::chrono::nanoseconds(std::uint64_t)> lateness_;
    std::uint64_t barriers_ = 0;
};

}  // namespace dlmb::measure::testing
