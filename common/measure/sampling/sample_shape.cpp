// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/sampling/sample_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace dlmb::measure {
namespace {

constexpr double stream_sample_ns = 10'000'000;
constexpr std::uint64_t stream_iterations_least = 16;
constexpr double samples_to_fit = 3;
// An event is exact to about 0.5 us, and so is what a poll of it tells the host.
constexpr double device_alone_ns = 10'000;
constexpr double device_sample_ns = 100'000;
constexpr std::uint64_t unrecorded_most = 3;
constexpr double unrecorded_share = 0.02;  // of the time limit, per chunk

/// The least number of whole passes over the draws with so many iterations.
std::uint64_t whole_passes(std::uint64_t iterations, std::uint64_t draws) {
    return (iterations + draws - 1) / draws * draws;
}

// Whole passes over the draws, so that all samples have the same mix; fewer iterations where the time limit would
// otherwise not hold three samples.
std::uint64_t stream_iterations(RunnerOptions const& options, std::uint64_t draws, double iteration_ns) {
    auto const long_enough = static_cast<std::uint64_t>(std::ceil(stream_sample_ns / iteration_ns));
    std::uint64_t const wanted = std::max(stream_iterations_least, long_enough);
    std::uint64_t const whole = whole_passes(wanted, draws);
    if (options.iterations) {
        return whole;
    }
    auto const fits =
        static_cast<std::uint64_t>(static_cast<double>(options.time_limit_ns) / samples_to_fit / iteration_ns);
    std::uint64_t const passes = fits >= draws ? fits / draws * draws : fits;
    return std::clamp<std::uint64_t>(whole, 1, std::max<std::uint64_t>(1, passes));
}

}  // namespace

SampleShape sample_shape(RunnerOptions const& options, std::uint64_t draws, double iteration_ns, bool device_driven) {
    double const iteration = std::max(1.0, iteration_ns);
    SampleShape shape;
    if (options.cache == CacheMode::flush) {
        shape.iterations = 1;  // a second one would find the caches as the first left them
    } else if (options.mode == Mode::stream) {
        shape.iterations = stream_iterations(options, draws, iteration);
    } else if (device_driven && iteration < device_alone_ns) {
        shape.iterations = whole_passes(static_cast<std::uint64_t>(std::ceil(device_sample_ns / iteration)), draws);
    }
    auto const affordable =
        static_cast<std::uint64_t>(unrecorded_share * static_cast<double>(options.time_limit_ns) / iteration);
    shape.unrecorded = std::min({unrecorded_most, affordable, options.warmup.value_or(unrecorded_most)});
    return shape;
}

std::string definition_of(Mode mode, Sampler const& sampler) {
    std::uint64_t const iterations = sampler.iterations_per_sample();
    std::string_view const begin = sampler.start().plan().method == StartMethod::window
                                       ? "begun at one time on all ranks"
                                       : "behind a dissemination barrier";
    if (iterations == 1 && (mode == Mode::isolated || sampler.start().plan().method == StartMethod::window)) {
        return fmt::format("isolated: one iteration {}, {}", begin,
                           sampler.spans() ? "from the first rank's enter to the last rank's done"
                                           : "largest over ranks of (done - enter)");
    }
    // Without their number, which is found anew in each launch and stands in the record: cells of one definition are
    // compared.
    return fmt::format("{}: iterations back to back {}, {} / iterations",
                       mode == Mode::stream ? "stream" : "aggregated", begin,
                       sampler.spans() ? "(last done - first enter)" : "largest over ranks of (done - enter)");
}

}  // namespace dlmb::measure
