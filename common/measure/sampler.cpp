// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/sampler.hpp"

#include "common/measure/ranked_duration.hpp"

#include <algorithm>

namespace dlmb::measure {

Sampler::Sampler(Bootstrap& bootstrap, Watchdog& watchdog, std::span<std::unique_ptr<CompiledPlan> const> draws,
                 std::span<Plan const> plans, PhaseMap const& phases)
    : bootstrap_(bootstrap), watchdog_(watchdog), draws_(draws), plans_(plans), phases_(phases) {}

void Sampler::run_unrecorded(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
        std::size_t const draw = i % draws_.size();
        watchdog_.iteration(draws_[draw].get(), &plans_[draw]);
        bootstrap_.barrier();
        draws_[draw]->launch();
        draws_[draw]->finish();
        watchdog_.touch();
    }
}

Chunk const& Sampler::run(std::uint64_t first, std::uint64_t count) {
    reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        take(first + i, i);
    }
    reduce();
    return chunk_;
}

// The timed region is between the two clock reads: per iteration two virtual calls, nothing else. Everything the
// sample leaves behind is stored after the second read, before the next synchronised start.
void Sampler::take(std::uint64_t sample, std::size_t slot) {
    std::size_t const draws = draws_.size();
    std::size_t draw = sample * per_sample_ % draws;
    CompiledPlan* compiled = draws_[draw].get();
    watchdog_.iteration(compiled, &plans_[draw]);
    bool const gated = gate_ != nullptr && compiled->launch_behind(*gate_);
    bootstrap_.barrier();

    Nanoseconds const t_enter = now_ns();
    if (gated) {
        gate_->open();
    } else {
        compiled->launch();
    }
    compiled->finish();
    for (std::uint64_t left = per_sample_ - 1; left > 0; --left) {
        draw = draw + 1 == draws ? 0 : draw + 1;
        compiled = draws_[draw].get();
        watchdog_.iteration(compiled, &plans_[draw]);
        compiled->launch();
        compiled->finish();
    }
    Nanoseconds const t_done = now_ns();

    auto const iterations = static_cast<Nanoseconds>(per_sample_);
    chunk_.own[slot] = (t_done - t_enter + iterations / 2) / iterations;
    was_gated_ = was_gated_ || gated;
    if (with_phases()) {
        chunk_.device[slot] = compiled->device_ns().value_or(no_device_time);
        std::size_t const labels = phases_.labels().size();
        phases_.durations(draw, compiled->marks(), t_enter, t_done,
                          std::span(chunk_.phases).subspan(slot * labels, labels));
    }
    watchdog_.touch();
}

void Sampler::reserve(std::uint64_t count) {
    chunk_.own.resize(count);
    chunk_.longest.resize(count);
    chunk_.slowest.resize(count);
    chunk_.phases.resize(with_phases() ? count * phases_.labels().size() : 0);
    chunk_.device.assign(count, no_device_time);
    reduced_.resize(2 * count + chunk_.phases.size());
}

// One reduction per chunk: one per sample would perturb the next one.
void Sampler::reduce() {
    std::size_t const count = chunk_.own.size();
    for (std::size_t i = 0; i < count; ++i) {
        reduced_[i] = packed({chunk_.own[i], bootstrap_.rank()});
    }
    auto const device = reduced_.begin() + static_cast<std::ptrdiff_t>(count);
    auto const phases = std::copy(chunk_.device.begin(), chunk_.device.end(), device);
    std::copy(chunk_.phases.begin(), chunk_.phases.end(), phases);
    bootstrap_.all_reduce(reduced_, Fold::max);
    for (std::size_t i = 0; i < count; ++i) {
        RankedDuration const longest = unpacked(reduced_[i]);
        chunk_.longest[i] = longest.duration_ns;
        chunk_.slowest[i] = longest.rank;
    }
    std::copy(device, phases, chunk_.device.begin());
    std::copy(phases, reduced_.end(), chunk_.phases.begin());
}

}  // namespace dlmb::measure
