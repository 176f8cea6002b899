// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The columns of OSU Micro-Benchmarks 7 with full statistics (-f): size left in 10, times right in 20 with two
// decimals, iterations in 12. Average and extremes are over iterations, each over all ranks (OSU averages ranks).
#include "common/app/tables/layouts.hpp"
#include "common/base/units.hpp"

#include <fmt/format.h>

namespace dlmb::app {
namespace {

class OsuTable final : public Table {
public:
    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const override {
        return preamble(launch, pattern) + fmt::format("{:<10}{:>20}{:>20}{:>20}{:>12}\n", "# Size", "Avg Latency(us)",
                                                       "Min Latency(us)", "Max Latency(us)", "Iterations");
    }

    /// The size is the message size; of traffic that has none, the busiest rank's bytes.
    [[nodiscard]] std::string row(record::Record const& cell, std::string_view title) override {
        if (cell.result.status != measure::Status::ok) {
            return note(cell, title);
        }
        measure::TimeSummary const& time = cell.result.time;
        auto const us = [](double nanoseconds) { return nanoseconds / nanoseconds_per_microsecond; };
        return series_.heading(cell, title) + fmt::format("{:<10}{:>20.2f}{:>20.2f}{:>20.2f}{:>12}\n",
                                                          message_size(cell).value_or(cell.traffic.busiest_rank_bytes),
                                                          us(time.mean), us(time.min), us(time.max), time.samples);
    }

private:
    Series series_;
};

}  // namespace

std::unique_ptr<Table> make_osu_table() {
    return std::make_unique<OsuTable>();
}

}  // namespace dlmb::app
