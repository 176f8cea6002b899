// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/launch_summary.hpp"

#include "common/measure/statistics/order_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dlmb::app {
namespace {

// One cell in so many: in a few cells of many the order in which ranks come looks like a delay.
constexpr std::uint64_t suspicions_told = 10;

// One page in so many: the kernel puts single ones elsewhere when a node is nearly full, which changes no figure.
constexpr std::uint64_t pages_told = 10;

bool lies_elsewhere(std::optional<record::HostPages> const& pages) {
    return pages && pages->where.elsewhere > 0 && pages->where.elsewhere * pages_told >= pages->where.sampled;
}

}  // namespace

void LaunchSummary::add(record::Record const& cell) {
    if (cell.result.aa_ratio) {
        deviations_.emplace_back(std::abs(*cell.result.aa_ratio - 1), cell.cell_id);
    }
    for (std::string const& flag : cell.result.flags) {
        ++flagged_[flag];
    }
    ok_cells_ += cell.result.status == measure::Status::ok ? 1U : 0U;
    for (measure::Suspect const& suspect : cell.result.suspects) {
        ++suspected_[fmt::format("rank {} is {}", suspect.rank, name_of(suspect.kind))];
    }
    below_floor_ += cell.result.below_floor.value_or(false) ? 1U : 0U;
    throttled_ += cell.result.throttled.value_or(false) ? 1U : 0U;
    memory_elsewhere_ += lies_elsewhere(cell.host_pages) ? 1U : 0U;
}

std::optional<record::SelfComparison> LaunchSummary::self_comparison() const {
    if (deviations_.empty()) {
        return std::nullopt;
    }
    std::vector<double> values;
    for (auto const& [deviation, id] : deviations_) {
        values.push_back(deviation);
    }
    auto const& [largest, id] = *std::max_element(deviations_.begin(), deviations_.end());
    return record::SelfComparison{values.size(), measure::median(values), largest, id};
}

std::string LaunchSummary::text() const {
    std::string text;
    if (auto const compared = self_comparison()) {
        text +=
            fmt::format("# compared with themselves (odd against even rounds), {} cells differ by {:.1f} %, at most "
                        "{:.1f} %\n",
                        compared->cells, 100 * compared->median, 100 * compared->largest);
    }
    for (auto const& [flag, cells] : flagged_) {
        text += fmt::format("# flagged {}: {} cells\n", flag, cells);
    }
    for (auto const& [suspicion, cells] : suspected_) {
        if (cells * suspicions_told >= ok_cells_) {
            text += fmt::format("# {}: {} of {} cells\n", suspicion, cells, ok_cells_);
        }
    }
    if (below_floor_ > 0) {
        text += fmt::format("# too short for the clock to be compared: {} cells\n", below_floor_);
    }
    if (throttled_ > 0) {
        text += fmt::format("# measured while the clocks of a GPU were held down: {} cells\n", throttled_);
    }
    if (memory_elsewhere_ > 0) {
        text += fmt::format("# buffers on another NUMA node than their rank: {} cells\n", memory_elsewhere_);
    }
    return text;
}

}  // namespace dlmb::app
