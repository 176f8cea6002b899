// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/resumed_cells.hpp"

#include "common/bootstrap/over_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::run {

bool ResumedCells::is_finished(std::string const& id, std::optional<std::string> const& traffic_hash) const {
    auto const found = of_file_.cells.find(id);
    return found != of_file_.cells.end() &&
           (!validate_ || found->second.cell.result.validation.verdict == record::Verdict::passed) &&
           (!traffic_hash || found->second.cell.traffic_hash == *traffic_hash);
}

std::vector<std::string> ResumedCells::take_out(Bootstrap& bootstrap, std::vector<measure::Cell>& cells,
                                                std::optional<std::string> const& traffic_hash) const {
    std::vector<std::string> finished;
    if (!resumes_ || cells.empty()) {
        return finished;
    }
    constexpr std::size_t bits = 8;
    Blob blob((cells.size() + bits - 1) / bits);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (is_finished(cells[i].id, traffic_hash)) {
            blob[i / bits] |= std::byte{1} << (i % bits);
        }
    }
    bootstrap.broadcast(blob, deciding_rank);
    std::vector<measure::Cell> open;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if ((blob.at(i / bits) >> (i % bits) & std::byte{1}) != std::byte{0}) {
            finished.push_back(cells[i].id);
        } else {
            open.push_back(std::move(cells[i]));
        }
    }
    cells = std::move(open);
    return finished;
}

namespace {

/// "mpi_library is B, was A; ..."
std::string differences(std::map<std::string, std::string> const& before,
                        std::map<std::string, std::string> const& now) {
    std::map<std::string, std::string> names = before;
    names.insert(now.begin(), now.end());
    std::vector<std::string> found;
    auto const value_in = [](auto const& identity, std::string const& name) {
        auto const value = identity.find(name);
        return value == identity.end() ? std::string("not known") : value->second;
    };
    for (auto const& [name, value] : names) {
        std::string const was = value_in(before, name);
        if (std::string const is = value_in(now, name); is != was) {
            found.push_back(fmt::format("{} is {}, was {}", name, is, was));
        }
    }
    return fmt::format("{}", fmt::join(found, "; "));
}

}  // namespace

std::vector<std::string> other_environments(record::FinishedCells const& of_file, WorldShape const& world,
                                            record::Environment const& environment) {
    std::map<std::string, std::uint64_t> cells;  // by launch
    for (auto const& [id, stored] : of_file.cells) {
        cells[stored.launch_id] += stored.cell.identity.world == world ? 1U : 0U;
    }
    std::map<std::string, std::pair<std::string, std::uint64_t>> others;  // by key: what differs, and cells
    for (record::Launch const& launch : of_file.launches) {
        if (launch.environment.env_key != environment.env_key && cells[launch.launch_id] > 0) {
            auto& [what, count] = others[launch.environment.env_key];
            what = differences(launch.environment.identity, environment.identity);
            count += cells[launch.launch_id];
        }
    }
    std::vector<std::string> warnings;
    for (auto const& [key, other] : others) {
        warnings.push_back(fmt::format("--resume: {} finished cells of the results file were measured in another "
                                       "environment{}; to compare cells measure all of them in one: name a new file",
                                       other.second, other.first.empty() ? "" : " (" + other.first + ")"));
    }
    return warnings;
}

}  // namespace dlmb::run
