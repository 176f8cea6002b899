// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/options/option_groups.hpp"
#include "common/app/options/whole_number_check.hpp"
#include "common/base/error.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace dlmb::app {
namespace {

constexpr char const* measuring_group = "Measuring";
constexpr double nanoseconds_per_second = 1e9;
// Limits that a message can show; CLI11's own for positive numbers ends with 309 digits.
constexpr std::uint64_t most_iterations = std::uint64_t{1} << 40U;
constexpr double least_seconds = 1e-6;
constexpr double most_seconds = 1e9;
constexpr double most_times = 1e6;

measure::StartRequest start_from(std::string_view name) {
    using measure::StartRequest;
    return name == "window"    ? StartRequest::window
           : name == "barrier" ? StartRequest::barrier
                               : StartRequest::automatic;
}

template <class Values>
std::vector<std::string> names_of(Values const& values) {
    std::vector<std::string> names;
    for (auto const value : values) {
        names.emplace_back(measure::name_of(value));
    }
    return names;
}

/// CLI11 has checked that the name is one of them.
template <class Values>
auto named(Values const& values, std::string const& name) {
    return *std::find_if(values.begin(), values.end(), [&](auto value) { return measure::name_of(value) == name; });
}

}  // namespace

void MeasuringOptions::add(CLI::App& app, Options& options) {
    app.add_option("-i,--iterations", iterations, "timed iterations per cell [adaptive]")
        ->check(CLI::Range(std::uint64_t{1}, most_iterations))
        ->group(measuring_group);
    app.add_option("-x,--warmup", warmup, "warm-up iterations per cell [adaptive]")
        ->check(CLI::Range(std::uint64_t{0}, most_iterations))
        ->group(measuring_group);
    app.add_option("--time-limit", time_limit_seconds, "seconds of timed iterations per cell")
        ->check(CLI::Range(least_seconds, most_seconds))
        ->capture_default_str()
        ->group(measuring_group);
    app.add_option(
           "--drop-slower", drop_slower,
           "--method all: what is this many times slower than its backend's best gets no more rounds; 0: all do")
        ->check(CLI::Range(0.0, most_times))
        ->capture_default_str()
        ->group(measuring_group);
    app.add_option("--rounds-over", rounds_over,
                   "point: the cells of a point take turns; sweep: those of as many points as fit in memory (rows come "
                   "late and in no order)")
        ->check(CLI::IsMember({"point", "sweep"}))
        ->capture_default_str()
        ->group(measuring_group);
    app.add_option("--order-seed", options.order_seed,
                   "seed of the order in which rounds visit the cells [another one in each launch, recorded]")
        ->check(whole_number_check)
        ->group(measuring_group);
    app.add_option("--timing", mode, "isolated: synchronised start per iteration; stream: back to back")
        ->check(CLI::IsMember({"isolated", "stream"}))
        ->capture_default_str()
        ->group(measuring_group);
    app.add_option("--start", start,
                   "how ranks begin an iteration together: window (at one time on a common clock), barrier, or auto: "
                   "window where every rank has a core and the clock is good enough")
        ->check(CLI::IsMember({"auto", "window", "barrier"}))
        ->capture_default_str()
        ->group(measuring_group);
    app.add_option("-c,--validation", validation, "check every byte before and after timing: on or off")
        ->check(CLI::IsMember({"on", "off"}))
        ->capture_default_str()
        ->group(measuring_group);
    app.add_option(
           "--cache", cache,
           "rotate: iterations take several sets of buffers in turn, together larger than the caches; warm: one "
           "set; flush: one set, caches swept before each iteration")
        ->check(CLI::IsMember(names_of(measure::every_cache_mode)))
        ->capture_default_str()
        ->group(measuring_group);
    app.add_option("--fill", fill, "random: what is timed moves coded payload; zeros: zeros, for curiosity only")
        ->check(CLI::IsMember(names_of(measure::every_fill)))
        ->capture_default_str()
        ->group(measuring_group);
    app.add_option("--gpu-gate", gate,
                   "spin: on GPU memory, what was queued starts together when all ranks are ready; none")
        ->check(CLI::IsMember({"none", "spin"}))
        ->capture_default_str()
        ->group(measuring_group);
    app.add_option("--calibration", calibration,
                   "measure the noise floor first: short (0.1 s at most), full (2 s, with transports) or off")
        ->check(CLI::IsMember({"off", "short", "full"}))
        ->capture_default_str()
        ->group(measuring_group);
    app.add_option("--timeout", timeout_seconds, "seconds without progress in a cell until the launch is ended")
        ->check(CLI::Range(least_seconds, most_seconds))
        ->capture_default_str()
        ->group(measuring_group);
    app.add_option("--ranks", options.ranks,
                   "ranks as threads when started without a launcher, and the world of --plan")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str()
        ->group(measuring_group);
    app.add_option("--ranks-per-node", ranks_per_node, "plan as if nodes had this many ranks [from the hosts]")
        ->check(CLI::Range(1, 1 << 20))
        ->group(measuring_group);
}

void MeasuringOptions::take(CLI::App const& app, Options& options) const {
    if (app.count("--iterations") > 0) {
        options.runner.iterations = iterations;
    }
    if (app.count("--warmup") > 0) {
        options.runner.warmup = warmup;
    }
    if (ranks_per_node > 0) {
        options.ranks_per_node = ranks_per_node;
    }
    options.runner.mode = mode == "stream" ? measure::Mode::stream : measure::Mode::isolated;
    options.runner.start = start_from(start);
    options.runner.cache = named(measure::every_cache_mode, cache);
    options.runner.fill = named(measure::every_fill, fill);
    if (options.runner.cache == measure::CacheMode::flush && options.runner.mode == measure::Mode::stream) {
        throw UsageError("--cache flush needs --timing isolated: in a stream only the first iteration would find the "
                         "caches swept");
    }
    options.runner.gate = gate == "spin";
    options.calibration = calibration == "off"    ? measure::Effort::off
                          : calibration == "full" ? measure::Effort::full
                                                  : measure::Effort::brief;
    options.rounds_over_sweep = rounds_over == "sweep";
    options.runner.validate = validation == "on";
    options.runner.time_limit_ns = static_cast<Nanoseconds>(time_limit_seconds * nanoseconds_per_second);
    options.runner.timeout_ns = static_cast<Nanoseconds>(timeout_seconds * nanoseconds_per_second);
    // Who fixes a count gets it, and who names methods gets them measured alike.
    bool const sweeps = options.all_methods && !options.runner.iterations;
    options.runner.drop_slower = sweeps ? drop_slower : 0;
}

}  // namespace dlmb::app
