// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What all cells of a launch together say about the quality of its figures.
#pragma once

#include "common/record/record.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::app {

class LaunchSummary {
public:
    void add(record::Record const& cell);
    /// Absent where no cell had two rounds.
    [[nodiscard]] std::optional<record::SelfComparison> self_comparison() const;
    /// Lines that begin with '#'; empty when there is nothing to say.
    [[nodiscard]] std::string text() const;

private:
    std::vector<std::pair<double, std::string>> deviations_;  // |aa_ratio - 1| and whose
    std::map<std::string, std::uint64_t> flagged_;            // cells by flag
    std::map<std::string, std::uint64_t> suspected_;          // cells by "rank 2 is delayed"
    std::uint64_t ok_cells_ = 0;
    std::uint64_t below_floor_ = 0;
    std::uint64_t throttled_ = 0;
    std::uint64_t memory_elsewhere_ = 0;  // cells
};

}  // namespace dlmb::app
