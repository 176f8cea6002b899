// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One point of a sweep in one memory kind, ready to be measured: its traffic, its buffers, and every requested backend
// and method compiled for them.
#pragma once

#include "common/app/buffer_choice.hpp"
#include "common/app/compiled_entries.hpp"
#include "common/app/traffic_setup.hpp"
#include "common/measure/buffers/buffer_pool.hpp"

#include <memory>
#include <optional>

namespace dlmb::app {

class Point {
public:
    /// Collective. Cells that cannot run are reported as skipped.
    Point(LaunchContext& launch, Variant const& variant, std::unique_ptr<MemorySpace> space, Traffic traffic,
          BufferChoice const& choice, std::vector<Entry> entries);

    Point(Point const&) = delete;
    Point(Point&&) = delete;
    Point& operator=(Point const&) = delete;
    Point& operator=(Point&&) = delete;
    ~Point() = default;

    [[nodiscard]] Variant const& variant() const { return variant_; }
    [[nodiscard]] std::size_t cells() const { return compiled_.entries.size(); }
    /// Lives as long as the point; `cell_over` is called after each cell that was reported.
    [[nodiscard]] measure::ContestRun contest_run(std::function<void()> cell_over);

private:
    void report(std::size_t index, measure::CellResult const& result);

    LaunchContext& launch_;
    Variant const& variant_;
    std::unique_ptr<MemorySpace> space_;
    Traffic traffic_;
    measure::BufferPool pool_;
    std::optional<measure::CacheFlush> flush_;
    measure::Contest contest_;
    CompiledEntries compiled_;
};

}  // namespace dlmb::app
