// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Tables of collective times: whoever needs times accepts no more than who needs none, and each line stays one line.
#include "common/tools/predict/measurements.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

namespace dlmb::fuzz {

void measurements(std::string_view input) {
    std::size_t lines = 0;
    bool const timed = accepts([&] { lines = predict::read_measurements(input, "table.csv", true).lines.size(); });
    bool const read = accepts([&] {
        auto const table = predict::read_measurements(input, "table.csv", false);
        require(!timed || table.lines.size() == lines, "the times decide how many lines there are");
        for (predict::TableLine const& line : table.lines) {
            require(line.text.find('\n') == std::string::npos, "a line holds the end of a line");
            require(line.measurement.topology.nodes() >= 1, "a job has no nodes");
        }
    });
    require(read || !timed, "a table with times is refused where none are needed");
}

}  // namespace dlmb::fuzz
