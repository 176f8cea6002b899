// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The cells that a launch with --resume does not measure again. Rank 0 reads the results file and tells the others of
// each point which of its cells are finished: a bit per cell, however many cells the file holds.
#pragma once

#include "common/formats/record/result_file.hpp"
#include "common/measure/cell.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::run {

class ResumedCells {
public:
    /// `of_file`: on rank 0, empty on other ranks and without --resume. `validate`: payloads are checked, so that a
    /// cell whose payload was not is not finished.
    ResumedCells(bool resumes, bool validate, record::FinishedCells of_file)
        : resumes_(resumes), validate_(validate), of_file_(std::move(of_file)) {}

    [[nodiscard]] bool resumes() const { return resumes_; }
    /// Collective. Takes the cells that are finished out of `cells`. Returns their ids. `traffic_hash`: of cells that
    /// read a file, as it is now; a cell with another one is not finished.
    [[nodiscard]] std::vector<std::string> take_out(Bootstrap& bootstrap, std::vector<measure::Cell>& cells,
                                                    std::optional<std::string> const& traffic_hash = {}) const;
    /// Every cell of the file; none on other ranks.
    [[nodiscard]] std::map<std::string, record::StoredCell> const& cells() const { return of_file_.cells; }

private:
    [[nodiscard]] bool is_finished(std::string const& id, std::optional<std::string> const& traffic_hash) const;

    bool resumes_;
    bool validate_;
    record::FinishedCells of_file_;
};

/// One warning per other environment in which cells of `of_file` were measured that `world` can go on with.
[[nodiscard]] std::vector<std::string> other_environments(record::FinishedCells const& of_file, WorldShape const& world,
                                                          record::Environment const& environment);

}  // namespace dlmb::run
