// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/launch_calibration.hpp"
#include "common/app/noise_floor.hpp"
#include "common/record/json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::app {
namespace {

constexpr std::size_t most_rows = 20;

/// A share in per cent; beyond ten times its size a column holds no more, and nobody asks.
std::string percent(InfoJson const& share) {
    constexpr double most = 10;
    if (share.is_null()) {
        return "-";
    }
    return share.get<double>() > most ? ">1000" : fmt::format("{:.1f}", 100 * share.get<double>());
}

std::string row(InfoJson const& cell) {
    std::string text = fmt::format("{:>13} {:>7} {:>7} {:>6}", human_us(cell["median_ns"]), percent(cell["spread"]),
                                   percent(cell["spread_at_most"]), cell["repetitions"].get<std::uint64_t>());
    for (auto const& [launches, least] : cell["least_slowdown"].items()) {
        text += fmt::format("{:>8}", percent(least));
    }
    return text + "  " + cell["cell"].get<std::string>() + "\n";
}

std::string heading(InfoJson const& cell, std::string_view repeated) {
    std::string text = fmt::format("{:>13} {:>7} {:>7} {:>6}", "median [us]", "spread", "at most", repeated);
    for (auto const& [launches, least] : cell["least_slowdown"].items()) {
        text += fmt::format("{:>8}", launches);
    }
    return text + "  cell\n";
}

}  // namespace

std::string noise_text(InfoJson const& noise) {
    std::string text = calibration_line(record::calibration_from(noise["calibration"]));
    for (InfoJson const& remark : noise["remarks"]) {
        text += fmt::format("# {}\n", remark.get<std::string>());
    }
    auto cells = noise["cells"].get<std::vector<InfoJson>>();
    if (cells.empty()) {
        return text;
    }
    bool const between = noise["spread_is"] == "between launches";
    text += fmt::format(
        "# spread {} in %, with 90 % confidence at most the next column; then the least slowdown in % that a\n"
        "# comparison of 5, 8, 12 or 16 launches per side shows in {:.0f} of 100 tries (exact one-sided rank test at "
        "{}, "
        "margin\n# 3 %, below 50 us 5 %, and twice what a cell differs from itself)\n",
        noise["spread_is"].get<std::string>(), 100 * noise["power"].get<double>(), noise["alpha"].get<double>());
    if (!between) {
        text += "# Launches differ by more than repetitions within one: these slowdowns are a lower limit. Run several "
                "launches\n# with --campaign NAME --results FILE and give --from FILE.\n";
    }
    std::sort(cells.begin(), cells.end(),
              [](InfoJson const& a, InfoJson const& b) { return a["spread"] > b["spread"]; });
    text += heading(cells.front(), between ? "of" : "times");
    for (std::size_t i = 0; i < std::min(cells.size(), most_rows); ++i) {
        text += row(cells[i]);
    }
    if (cells.size() > most_rows) {
        text += fmt::format("# and {} quieter cells (--json shows all); the middle one:\n{}", cells.size() - most_rows,
                            row(cells[cells.size() / 2]));
    }
    return text;
}

}  // namespace dlmb::app
