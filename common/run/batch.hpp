// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Prepares points of the sweep and measures the cells of those that are visited in the same rounds: of one point, or
// with --rounds-over sweep of as many as fit in memory.
#pragma once

#include "common/measure/runner.hpp"
#include "common/run/cells.hpp"
#include "common/run/derived_figures.hpp"
#include "common/run/point_memory.hpp"
#include "common/run/reporter.hpp"
#include "common/run/resumed_cells.hpp"
#include "common/run/traffic_setup.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::run {

class Batch {
public:
    /// The arguments must outlive it.
    Batch(measure::LaunchShared const& launch, CellSource const& source, RankHardware const& hardware,
          ResumedCells const& resumed, Reporter& reporter);

    /// Collective, as run() is. Prepares a point, which must outlive it, and measures what is ready once no other point
    /// shall join it. Cells that cannot run are reported as skipped.
    void add(SweepPoint const& point);
    /// Measures what is ready, and forgets it. Then says what the finished cells tell of each other.
    void run();

private:
    /// A point with its traffic in buffers, so that its cells can be measured.
    struct ReadyPoint {
        SweepPoint const* point;
        std::unique_ptr<MemorySpace> space;
        Traffic traffic;  // without its plans, which are in `prepared`
        record::CacheUse cache;
        std::unique_ptr<measure::PreparedPoint> prepared;
        std::optional<record::HostPages> pages;
    };

    [[nodiscard]] Traffic traffic_of(SweepPoint const& point, Pattern const& pattern) const;
    void leave_out_finished(SweepPoint const& point, Pattern const& pattern, std::vector<measure::Cell>& cells);
    /// With compute steps as long as each of the cells took without them.
    void prepare_beside(SweepPoint const& point, std::string_view compute_time, std::vector<measure::Cell> cells);
    void prepare(SweepPoint const& point, Pattern const& pattern, std::vector<measure::Cell> cells);
    [[nodiscard]] ReadyPoint fill_buffers(SweepPoint const& point, std::unique_ptr<MemorySpace> space, Traffic traffic,
                                          BufferChoice const& choice, std::span<measure::Cell const> cells);
    /// Whether it can run.
    bool compile(ReadyPoint const& ready, measure::Cell& cell);
    /// Reports a cell that is not measured.
    void end(SweepPoint const& point, record::Record record, record::Status status, std::string const& reason);
    void skip(SweepPoint const& point, measure::Cell const& cell, std::string const& reason);
    [[nodiscard]] record::Record describe(ReadyPoint const& ready, measure::Cell const& cell) const;
    void report(measure::Cell const& cell, record::CellResult const& result);

    measure::LaunchShared const& launch_;
    CellSource const& source_;
    RankHardware const& hardware_;
    ResumedCells const& resumed_;
    Reporter& reporter_;
    CellRelations relations_;
    std::deque<ReadyPoint> points_;
    std::vector<measure::Cell> cells_;  // of all of these
    PointUse ready_;
    PointLimits limits_;
};

}  // namespace dlmb::run
