// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/noise_floor.hpp"
#include "common/base/error.hpp"
#include "common/record/result_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace dlmb::app {
namespace {

constexpr std::size_t least_launches = 3;

/// Launches that may be taken together. One without --campaign is named after itself, and then by its environment
/// alone.
std::string family_of(record::Launch const& launch) {
    std::string const campaign = launch.campaign_id == launch.launch_id ? "" : launch.campaign_id;
    return campaign + '\0' + launch.environment.env_key;
}

}  // namespace

NoiseFloor read_noise_floor(std::vector<std::filesystem::path> const& files) {
    NoiseFloor floor;
    floor.between_launches = true;
    std::map<std::pair<std::string, std::string>, RepeatedCell> cells;  // by family and cell
    std::set<std::string> families;
    for (std::filesystem::path const& file : files) {
        record::ResultFile const results = record::read_results(file);
        std::map<std::string, record::Launch const*> launches;
        for (record::Launch const& launch : results.launches) {
            launches[launch.launch_id] = &launch;
            families.insert(family_of(launch));
        }
        for (record::StoredCell const& stored : results.cells) {
            record::Launch const& launch = *launches.at(stored.launch_id);
            double const median_ns = stored.cell.result.median_of_rounds_ns;
            if (stored.cell.result.status == measure::Status::ok && median_ns > 0 &&
                !record::on_test_double(launch.environment) && !stored.cell.shared_gpu) {
                RepeatedCell& cell = cells[{family_of(launch), stored.cell.cell_id}];
                cell.name = stored.cell.cell_id;
                cell.stream = stored.cell.identity.mode == "stream";
                cell.add(stored.cell.result);
            }
        }
    }
    std::size_t most = 0;
    for (auto& [key, cell] : cells) {
        most = std::max(most, cell.medians_ns.size());
        if (cell.medians_ns.size() >= least_launches) {
            floor.cells.push_back(std::move(cell));
        }
    }
    if (floor.cells.empty()) {
        throw UsageError(
            fmt::format("--from: the spread of launches takes {} of one cell, campaign and environment; the "
                        "most that these files hold is {}",
                        least_launches, most));
    }
    if (families.size() > 1) {
        floor.remarks.push_back(fmt::format("{} campaigns or environments, looked at apart", families.size()));
    }
    return floor;
}

}  // namespace dlmb::app
