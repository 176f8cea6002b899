// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The command line as a value. Nothing here starts anything.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/measure/calibration/calibration.hpp"
#include "common/measure/runner.hpp"
#include "common/run/launcher/launcher.hpp"
#include "common/run/options/suites.hpp"
#include "patterns/model_parameters.hpp"
#include "patterns/pattern.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace dlmb::run {

enum class PlanFormat { text, jsonl, json, goal, dot };
enum class TableLayout { dlmb, osu, nccl };
enum class TableColumns { fitting, all };  // of our own layout: those that fit on a line, or all

struct Options {
    std::vector<std::string> presets;   // empty: the pattern's defaults, without a preset
    ParameterLists parameters;          // given ones; more than one value: a sweep
    std::optional<ModelShape> model;    // of --model FILE: what follows from it is below what is given
    Parallelism parallel;               // of --parallel: ranks that divide it
    std::optional<Suite> suite;         // whose command line it was
    std::vector<std::string> backends;  // empty: all that are usable here
    std::vector<MethodChoice> methods;  // {"default"} unless chosen
    std::string beside_backend;         // of steps of the phase beside_phase; empty: that of the rest
    MethodChoice beside_method;         // of that backend
    std::vector<MemoryKind> memory{MemoryKind::host};
    std::vector<std::string> loads{""};  // beside the ranks, one at a time, as CellIdentity::beside has it
    std::vector<int> devices;            // GPUs that local ranks take in turn; empty: the nearest
    bool all_methods = false;
    bool shared_gpu = false;
    bool resume = false;
    BackendOptions backend_options;
    std::string mpi_thread{default_mpi_thread};
    std::optional<std::filesystem::path> use_table;  // for backend tuned
    std::uint64_t seed = 1;
    std::uint32_t draws = 4;
    measure::RunnerOptions runner;
    std::optional<std::uint64_t> order_seed;  // of the rounds; otherwise another one in each launch
    bool rounds_over_sweep = false;           // rounds visit the cells of as many points as fit in memory, not of one
    record::Effort calibration = record::Effort::brief;
    std::optional<std::filesystem::path> results;
    std::string campaign;
    std::optional<PlanFormat> plan;
    int ranks = 4;                                                  // only without a launcher
    std::optional<int> ranks_per_node;                              // what-if; otherwise from the hosts
    Bytes buffer_limit = std::numeric_limits<std::int64_t>::max();  // per rank and point
    bool also_in_place = false;  // every point that can is measured in place, too, right after
    TableLayout layout = TableLayout::dlmb;
    TableColumns columns = TableColumns::fitting;
    std::vector<std::uint64_t> percentiles;  // further columns of TableLayout::osu
    bool host_times = false;                 // of TableLayout::nccl: what the host takes to queue a call, not the time
    bool figures = false;                    // DLMB-FOM lines also on a terminal
    std::vector<std::string> command;        // argv

    /// Whether some cells have a load that this launch makes.
    [[nodiscard]] bool any_load() const {
        return std::any_of(loads.begin(), loads.end(),
                           [](auto const& load) { return record::load_of(load).has_value(); });
    }
    /// Whether a method may be asked for that chooses among a library's algorithms.
    [[nodiscard]] bool chooses_algorithms() const {
        return all_methods || use_table || std::any_of(methods.begin(), methods.end(), [](MethodChoice const& method) {
                   return method.name == algorithm_method;
               });
    }
};

/// The text of --help, --version and --list-presets, in place of options: print and exit 0. Throws UsageError; nearest
/// names are in its text.
[[nodiscard]] std::variant<Options, std::string> parse_options(PatternType const& type,
                                                               std::vector<std::string> const& arguments);

}  // namespace dlmb::run
