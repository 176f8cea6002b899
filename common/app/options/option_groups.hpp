// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One group of options per struct: what CLI11 writes into, and how it becomes Options once parsing succeeded. The texts
// of --help live with their options. Between add and take the struct must stay where it is.
#pragma once

#include "common/app/options/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace dlmb::app {

/// Presets and the parameters of the pattern (written to Options at once), seed and draws.
struct TrafficOptions {
    bool list_presets = false;

    void add(CLI::App& app, PatternType const& type, Options& options);
};

struct TransportOptions {
    std::vector<std::string> methods{"default"};
    std::vector<std::string> memory{"host"};
    std::string mpi_device = "auto";
    std::string use_table;

    void add(CLI::App& app, Options& options);
    void take(Options& options) const;
};

struct MeasuringOptions {
    std::uint64_t iterations = 0;
    std::uint64_t warmup = 0;
    double time_limit_seconds = 10;
    double timeout_seconds = 60;
    double drop_slower = 2;
    std::string mode = "isolated";
    std::string start = "auto";
    std::string gate = "none";
    std::string validation = "on";
    std::string calibration = "short";
    std::string cache = "rotate";
    std::string fill = "random";
    std::string rounds_over = "point";
    int ranks_per_node = 0;

    void add(CLI::App& app, Options& options);
    void take(CLI::App const& app, Options& options) const;
};

struct OutputOptions {
    std::string results;
    std::string plan;
    std::string layout = "dlmb";
    bool version = false;

    void add(CLI::App& app, Options& options);
    void take(Options& options) const;
};

}  // namespace dlmb::app
