// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_info --calibrate: how noisy this machine is, and what slowdown so many launches can therefore show.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/formats/record/cell_result.hpp"
#include "common/measure/calibration/calibration.hpp"
#include "common/run/info/info.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::run {

/// The medians of one cell, measured again and again.
struct RepeatedCell {
    std::string name;
    std::vector<double> medians_ns;  // one per launch, or per repetition within one
    bool stream = false;

    void add(record::CellResult const& result);
};

struct NoiseFloor {
    std::optional<record::Calibration> calibration;
    bool between_launches = false;  // else within one launch, which is the smaller part of the noise
    std::vector<RepeatedCell> cells;
    std::vector<std::string> remarks;
};

/// Collective, some seconds. Full calibration and a few short cells over every backend that this launch can use on host
/// memory. Cells are filled in on rank 0 only.
[[nodiscard]] NoiseFloor measure_noise_floor(Bootstrap& bootstrap);

/// Reads result files with several launches of the same cells. Launches of different campaigns or environments
/// are never taken together. Throws UsageError where no cell has three launches.
[[nodiscard]] NoiseFloor read_noise_floor(std::vector<std::filesystem::path> const& files);

/// With the slowdown that 5, 8, 12 and 16 launches per side show, for each cell.
[[nodiscard]] InfoJson noise_json(NoiseFloor const& floor);
[[nodiscard]] std::string noise_text(InfoJson const& noise);

}  // namespace dlmb::run
