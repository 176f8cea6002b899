// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/sampling/sampler.hpp"

#include <algorithm>
#include <tuple>

namespace dlmb::measure {

LargestWords largest_words(RankMarks const& marks, Rank rank) {
    return {-marks.enter, marks.enter, marks.done, packed({marks.done - marks.enter, rank})};
}

SampleTimes sample_times(std::span<std::int64_t const, 4> largest, std::int64_t sum_ns, int ranks) {
    Nanoseconds const first_enter = -largest[0];
    Nanoseconds const last_enter = largest[1];
    Nanoseconds const last_done = largest[2];
    RankedDuration const longest = unpacked(largest[3]);
    SampleTimes times{.span = last_done - first_enter,
                      .max_rank = longest.duration_ns,
                      .last_arrival = last_done - last_enter,
                      .skew = last_enter - first_enter,
                      .straggler = longest.rank,
                      .first_enter = first_enter};
    if (sum_ns > 0) {
        times.imbalance_time =
            static_cast<double>(longest.duration_ns) * static_cast<double>(ranks) / static_cast<double>(sum_ns);
    }
    return times;
}

Sampler::Sampler(Bootstrap& bootstrap, CommonClock const& clock, Watchdog& watchdog,
                 std::span<std::unique_ptr<CompiledPlan> const> positions, std::span<Plan const> plans,
                 PhaseMap const& phases)
    : bootstrap_(bootstrap), clock_(clock), watchdog_(watchdog), positions_(positions), plans_(plans), phases_(phases),
      start_(bootstrap, clock, {}, false) {
    for (std::size_t position = 0; position < positions.size(); ++position) {
        plan_at_.push_back(&plans[position % plans.size()]);
    }
}

void Sampler::run_unrecorded(std::uint64_t next, std::uint64_t iterations) {
    run_unrecorded_at(position_before(next, iterations), iterations);
}

void Sampler::run_unrecorded_at(std::uint64_t first, std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
        std::size_t const position = (first + i) % positions_.size();
        CompiledPlan& compiled = *positions_[position];
        watchdog_.iteration(&compiled, plan_at_[position]);
        bootstrap_.barrier();
        compiled.launch();
        compiled.finish();
        watchdog_.touch();
    }
}

std::uint64_t Sampler::position_before(std::uint64_t sample, std::uint64_t iterations) const {
    std::uint64_t const positions = positions_.size();
    return (sample * per_sample_ % positions + (positions - iterations % positions)) % positions;
}

void Sampler::keep_marks(bool keeps) {
    for (std::unique_ptr<CompiledPlan> const& compiled : positions_) {
        compiled->keep_marks(keeps);
    }
}

SampleChunk const& Sampler::run(std::uint64_t first, std::uint64_t count, std::uint64_t lead) {
    reserve(count);
    keep_marks(false);
    if (osu_backend_ != nullptr) {
        make_calls(first, count, lead);
        reduce();
        return chunk_;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        take(first + i, i);
    }
    take_late_ones_again(first);
    reduce();
    return chunk_;
}

// On a machine where ranks keep missing even the longest margin the last attempt is kept: late as it was, it is
// counted, and the skew shows it.
void Sampler::take_late_ones_again(std::uint64_t first) {
    constexpr int attempts = 10;
    std::uint64_t taken = late_.size();
    for (int attempt = 1; start_.can_be_late(); ++attempt) {
        bootstrap_.all_reduce(late_, Fold::max);
        auto const late = static_cast<std::uint64_t>(std::count(late_.begin(), late_.end(), 1));
        start_.note(late, taken);
        chunk_.late += late;
        taken = late;
        if (late == 0 || attempt == attempts) {
            return;
        }
        for (std::size_t slot = 0; slot < late_.size(); ++slot) {
            if (late_[slot] != 0) {
                take(first + slot, slot);
            }
        }
    }
}

void Sampler::make_calls(std::uint64_t first, std::uint64_t count, std::uint64_t lead) {
    std::size_t position = position_before(first, lead);
    osu_backend_->barrier(bootstrap_);
    for (std::uint64_t call = 0; call < lead + count; ++call) {
        CompiledPlan& compiled = *positions_[position];
        watchdog_.iteration(&compiled, plan_at_[position]);
        Nanoseconds const enter = now_ns();
        compiled.launch();
        compiled.finish();
        Nanoseconds const done = now_ns();
        for (int barrier = 0; barrier < program_.barriers; ++barrier) {
            osu_backend_->barrier(bootstrap_);
        }
        watchdog_.touch(done);
        if (call >= lead) {
            chunk_.own[call - lead] = {enter, enter, done, enter};
        }
        position = position + 1 == positions_.size() ? 0 : position + 1;
    }
    std::transform(chunk_.own.begin(), chunk_.own.end(), chunk_.own.begin(),
                   [&](RankMarks const& marks) { return on_common_clock(marks); });
}

RankMarks Sampler::on_common_clock(RankMarks const& marks) const {
    return {clock_.common(marks.enter), clock_.common(marks.posted), clock_.common(marks.done),
            clock_.common(marks.queued)};
}

// The timed region is between the first and the last clock read: per iteration two virtual calls, and two more reads.
// Everything the sample leaves behind is stored after it, before the next synchronised start.
RankMarks Sampler::time(std::size_t position, std::uint64_t iterations) {
    std::size_t const positions = positions_.size();
    CompiledPlan* compiled = positions_[position].get();
    watchdog_.iteration(compiled, plan_at_[position]);
    if (flush_ != nullptr) {
        flush_->sweep();
    }
    bool const gated = gate_ != nullptr && compiled->launch_behind(*gate_);
    bool const queued = queues();
    start_.wait();

    RankMarks marks;
    marks.enter = now_ns();
    if (gated) {
        gate_->open();
    } else {
        compiled->launch();
    }
    marks.posted = now_ns();
    for (std::uint64_t left = iterations - 1; left > 0; --left) {
        if (!queued) {
            compiled->finish();
        }
        position = position + 1 == positions ? 0 : position + 1;
        compiled = positions_[position].get();
        watchdog_.iteration(compiled, plan_at_[position]);
        compiled->launch();
    }
    marks.queued = iterations > 1 ? now_ns() : marks.posted;
    compiled->finish();
    marks.done = now_ns();
    was_gated_ = was_gated_ || gated;
    return marks;
}

void Sampler::take(std::uint64_t sample, std::size_t slot) {
    chunk_.own[slot] = on_common_clock(time(sample * per_sample_ % positions_.size(), per_sample_));
    late_[slot] = start_.was_late() ? 1 : 0;
    watchdog_.touch();
}

MarkedChunk const& Sampler::run_marked(std::uint64_t next, std::uint64_t count, std::uint64_t lead) {
    std::size_t const first = position_before(next, count);
    std::size_t const labels = phases_.labels().size();
    marked_.device.assign(count, no_device_time);
    marked_.phases.assign(count * labels, no_such_phase);
    marked_.ended.assign(count * labels, no_such_phase);
    std::size_t const words = requests_ == nullptr ? 0 : requests_->words();
    marked_.requests.assign(count * words, 0);
    keep_marks(true);
    run_unrecorded_at(position_before(next, count + lead), lead);
    for (std::uint64_t i = 0; i < count; ++i) {
        std::size_t const position = (first + i) % positions_.size();
        RankMarks const whole = time(position, 1);
        CompiledPlan& compiled = *positions_[position];
        marked_.device[i] = compiled.device_ns().value_or(no_device_time);
        phases_.times(position % plans_.size(), compiled.marks(), whole.enter, whole.done,
                      std::span(marked_.phases).subspan(i * labels, labels),
                      std::span(marked_.ended).subspan(i * labels, labels));
        if (words > 0) {
            requests_->times(position % plans_.size(), compiled.marks(), whole.enter, whole.done,
                             clock_.common(whole.enter) - whole.enter,
                             std::span(marked_.requests).subspan(i * words, words));
        }
        watchdog_.touch();
    }
    keep_marks(false);
    bootstrap_.all_reduce(marked_.device, Fold::max);
    bootstrap_.all_reduce(marked_.phases, Fold::max);
    bootstrap_.all_reduce(marked_.ended, Fold::max);
    if (words > 0) {
        bootstrap_.all_reduce(marked_.requests, Fold::max);
    }
    return marked_;
}

void Sampler::reserve(std::uint64_t count) {
    chunk_.own.resize(count);
    chunk_.samples.resize(count);
    chunk_.headline.resize(count);
    chunk_.late = 0;
    late_.resize(count);
    largest_.clear();
    largest_.reserve(count * std::tuple_size_v<LargestWords>);
    sums_.resize(count);
}

// Two reductions per chunk: one per sample would perturb the next one.
void Sampler::reduce() {
    std::size_t const count = chunk_.own.size();
    bool const takes_times = program_.takes_times(bootstrap_.rank(), bootstrap_.size());
    int const with_times = program_.ranks_with_times(bootstrap_.size());
    for (std::size_t i = 0; i < count; ++i) {
        LargestWords const words = largest_words(chunk_.own[i], bootstrap_.rank());
        largest_.insert(largest_.end(), words.begin(), words.end());
        sums_[i] = takes_times ? chunk_.own[i].done - chunk_.own[i].enter : 0;
    }
    bootstrap_.all_reduce(largest_, Fold::max);
    bootstrap_.all_reduce(sums_, Fold::sum);

    constexpr std::size_t words = std::tuple_size_v<LargestWords>;
    std::span<std::int64_t const> const largest(largest_);
    for (std::size_t i = 0; i < count; ++i) {
        chunk_.samples[i] = sample_times(largest.subspan(i * words).first<words>(), sums_[i], with_times);
        chunk_.headline[i] = headline(chunk_.samples[i], sums_[i]);
    }
}

Nanoseconds Sampler::headline(SampleTimes const& times, Nanoseconds sum) const {
    auto const iterations = static_cast<Nanoseconds>(per_sample_);
    if (is_mean_ || osu_backend_ != nullptr) {
        Nanoseconds const parts = iterations * program_.divisor * program_.ranks_with_times(bootstrap_.size());
        return (sum + parts / 2) / std::max<Nanoseconds>(1, parts);
    }
    return ((spans() ? times.span : times.max_rank) + iterations / 2) / iterations;
}

}  // namespace dlmb::measure
