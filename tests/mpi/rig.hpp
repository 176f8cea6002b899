// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan with its buffers, run and checked: what the tests of this folder share.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/mpi/mpi_backend.hpp"
#include "tests/unit/exchange_step.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dlmb::mpi {

class Rig {
public:
    explicit Rig(CallLimits const& limits = {}, std::string const& device = "auto", MemoryKind kind = MemoryKind::host);

    [[nodiscard]] Rank me() const { return bootstrap_->rank(); }
    [[nodiscard]] int ranks() const { return bootstrap_->size(); }
    [[nodiscard]] Backend& backend() { return *backend_; }
    [[nodiscard]] Bootstrap& bootstrap() { return *bootstrap_; }
    [[nodiscard]] MemorySpace& memory() { return *memory_; }
    [[nodiscard]] Group world() const;

    /// Compiles, runs `iterations` and returns what the payload check found, plus any step without a mark.
    [[nodiscard]] std::vector<std::string> run(Plan const& plan, std::string_view method, std::uint32_t iterations = 2);

    /// Buffers of a plan; freed with the rig.
    [[nodiscard]] Buffers bind(Plan const& plan);

private:
    std::unique_ptr<Bootstrap> bootstrap_;
    std::unique_ptr<MemorySpace> memory_;
    std::unique_ptr<Backend> backend_;
    std::vector<Allocation> allocations_;
};

/// Each exchange receives behind what it sends, in the same buffer.
inline Plan in_one_buffer(Plan plan) {
    for (Step& step : plan.steps) {
        auto& exchange = std::get<Exchange>(step.operation);
        Bytes& bytes = plan.buffers[exchange.send_buffer].bytes;
        for (Block& block : exchange.recv) {
            block.offset += bytes;
        }
        bytes += plan.buffers[exchange.recv_buffer].bytes;
        exchange.recv_buffer = exchange.send_buffer;
    }
    return plan;
}

}  // namespace dlmb::mpi
