// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/cell_run.hpp"

#include "common/base/philox.hpp"
#include "common/base/statistics/order_statistics.hpp"
#include "common/base/statistics/series.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/sampling/summaries.hpp"
#include "common/measure/validation/bit_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace dlmb::measure {
namespace {

/// The samples of the iterations that have the phase; `all`: [iteration * labels + label].
std::vector<Nanoseconds> samples_of_phase(std::span<Nanoseconds const> all, std::size_t label, std::size_t labels) {
    std::vector<Nanoseconds> samples;
    for (std::size_t i = label; i < all.size(); i += labels) {
        if (all[i] != no_such_phase) {
            samples.push_back(all[i]);
        }
    }
    return samples;
}

constexpr double stream_sample_ns = 10'000'000;
constexpr std::uint64_t stream_iterations_least = 16;
constexpr double samples_to_fit = 3;
// An event is exact to about 0.5 us, and so is what a poll of it tells the host.
constexpr double device_alone_ns = 10'000;
constexpr double device_sample_ns = 100'000;
constexpr std::uint64_t unrecorded_most = 3;
constexpr double unrecorded_share = 0.02;     // of the time limit, per chunk
constexpr std::uint32_t checked_purpose = 1;  // of the order seed's random numbers
constexpr std::uint32_t place_purpose = 2;

/// The least number of whole passes over the draws with so many iterations.
std::uint64_t whole_passes(std::uint64_t iterations, std::uint64_t draws) {
    return (iterations + draws - 1) / draws * draws;
}

constexpr std::uint64_t samples_for_rounds = 6;

/// Iterations of one of the equal samples that `count` of them are divided into: `wanted` or more, but fewer where only
/// so there are the six samples that an interval needs, and each still has 16; whole passes where the count is.
std::uint64_t equal_share(std::uint64_t count, std::uint64_t wanted, std::uint64_t draws) {
    std::uint64_t const most = count / samples_for_rounds;
    std::uint64_t const least = std::min(wanted, std::max(stream_iterations_least, most));
    std::uint64_t enough = count;  // the least divisor of so many
    std::uint64_t fewer = 0;       // the largest one that leaves six samples
    auto const consider = [&](std::uint64_t divisor) {
        if (divisor % draws != 0 && count % draws == 0) {
            return;
        }
        if (divisor >= least) {
            enough = std::min(enough, divisor);
        }
        if (divisor >= stream_iterations_least && divisor <= most) {
            fewer = std::max(fewer, divisor);
        }
    };
    for (std::uint64_t divisor = 1; divisor <= count / divisor; ++divisor) {
        if (count % divisor == 0) {
            consider(divisor);
            consider(count / divisor);
        }
    }
    return enough > most && fewer > 0 ? fewer : enough;
}

// Whole passes over the draws, so that all samples have the same mix; fewer iterations where the time limit would
// otherwise not hold three samples.
std::uint64_t stream_iterations(RunnerOptions const& options, std::uint64_t draws, double iteration_ns) {
    auto const long_enough = static_cast<std::uint64_t>(std::ceil(stream_sample_ns / iteration_ns));
    std::uint64_t const wanted = std::max(stream_iterations_least, long_enough);
    std::uint64_t const whole = whole_passes(wanted, draws);
    if (options.iterations) {
        return equal_share(*options.iterations, whole, draws);
    }
    auto const fits =
        static_cast<std::uint64_t>(static_cast<double>(options.time_limit_ns) / samples_to_fit / iteration_ns);
    std::uint64_t const passes = fits >= draws ? fits / draws * draws : fits;
    return std::clamp<std::uint64_t>(whole, 1, std::max<std::uint64_t>(1, passes));
}

std::string osu_definition(OsuProgram const& program) {
    return fmt::format("osu: each call timed by itself, {} between calls, mean over {} of (done - enter){}",
                       program.barriers == 0   ? "nothing"
                       : program.barriers == 1 ? "a barrier"
                                               : "two barriers",
                       program.timed_pairs == 1 && program.barriers == 0 ? "rank 0"
                       : program.pairs                                   ? "the first ranks of pairs"
                                                                         : "ranks",
                       program.divisor == 1 ? "" : fmt::format(" / {}", program.divisor));
}

}  // namespace

SampleShape sample_shape(RunnerOptions const& options, std::uint64_t draws, double iteration_ns, bool device_driven) {
    double const iteration = std::max(1.0, iteration_ns);
    SampleShape shape;
    if (options.cache == record::CacheMode::flush) {
        shape.iterations = 1;  // a second one would find the caches as the first left them
    } else if (options.mode == Mode::nccl && options.iterations) {
        shape.iterations = *options.iterations;
    } else if (options.mode == Mode::stream || options.mode == Mode::nccl) {
        shape.iterations = stream_iterations(options, draws, iteration);
    } else if (options.mode == Mode::isolated && device_driven && iteration < device_alone_ns) {
        shape.iterations = whole_passes(static_cast<std::uint64_t>(std::ceil(device_sample_ns / iteration)), draws);
        if (options.iterations) {
            shape.iterations = equal_share(*options.iterations, shape.iterations, draws);
        }
    }
    auto const affordable =
        static_cast<std::uint64_t>(unrecorded_share * static_cast<double>(options.time_limit_ns) / iteration);
    shape.unrecorded = std::min({unrecorded_most, affordable, options.warmup.value_or(unrecorded_most)});
    if (is_foreign(options.mode) && options.iterations) {
        shape.unrecorded = 0;
    }
    return shape;
}

std::vector<ChunkPart> parts_of_chunk(std::uint32_t random, std::uint64_t samples, std::uint64_t ignored,
                                      std::uint64_t slots) {
    std::uint64_t const fewer = std::min(ignored, slots - 1);
    std::uint64_t const checked = std::min(samples, slots - fewer);
    std::uint64_t const ahead = below(random, static_cast<std::uint32_t>(samples - checked + 1));
    std::vector<ChunkPart> all{
        {ahead, ignored, false}, {checked, fewer, true}, {samples - ahead - checked, ignored, false}};
    std::erase_if(all, [](ChunkPart const& part) { return part.samples == 0; });
    return all;
}

std::string definition_of(Mode mode, Sampler const& sampler) {
    if (mode == Mode::nccl) {
        return fmt::format("nccl: calls back to back behind a barrier, {}, mean over ranks of (done - enter) / calls",
                           sampler.queues() ? "waited for together" : "each waited for");
    }
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
    return fmt::format("{}: iterations back to back {}, {}{} / iterations",
                       mode == Mode::stream ? "stream" : "aggregated", begin,
                       sampler.queues() ? "waited for together, " : "",
                       sampler.spans() ? "(last done - first enter)" : "largest over ranks of (done - enter)");
}

CellRun::CellRun(LaunchShared const& launch, Cell const& cell)
    : launch_(launch), cell_(cell), options_(with_counts(launch.options, cell.point->osu())),
      sampler_(launch.bootstrap, launch.start.clock(), launch.watchdog, cell.positions, cell.point->plans(),
               cell.point->phases()),
      gpu_clocks_(cell.point->gpu()), cpu_quota_(launch.cpu_quota), processor_(launch.bootstrap),
      load_(launch.loads, cell.identity.beside), requests_(cell.point->requests()) {
    sampler_.set_requests(cell.point->requests());
    sampler_.set_flush(cell.point->flush());
}

bool CellRun::decides() const {
    return launch_.bootstrap.rank() == deciding_rank;
}
Nanoseconds CellRun::clock() const {
    return decides() ? launch_.options.limit_clock() : 0;
}

void CellRun::activate() {
    for (std::unique_ptr<CompiledPlan> const& compiled : cell_.positions) {
        compiled->activate();
    }
}

void CellRun::start() {
    activate();
    LoadVisit const load(load_.load());
    result_.setup_ns = reduce_over_ranks(launch_.bootstrap, cell_.setup_ns, Fold::max);
    launch_.watchdog.activity("first iteration");
    if (options_.validate) {
        check(cell_.point->check().before(), "before timing");
    } else {
        result_.first_iteration_ns = sampler_.run(0, 1).headline.front();
    }
    if (!over_) {
        launch_.watchdog.activity("warm-up");
        warm_up();
    }
}

void CellRun::check(std::vector<std::uint64_t> const& positions, char const* when) {
    for (std::uint64_t const position : positions) {
        CompiledPlan& compiled = *cell_.positions[position];
        launch_.watchdog.iteration(&compiled, &cell_.point->plan_at(position));
        Nanoseconds const took = cell_.point->check().run(position, compiled, result_.validation);
        launch_.watchdog.touch();
        if (result_.first_iteration_ns == 0) {
            result_.first_iteration_ns = took;
        }
        if (result_.validation.verdict == record::Verdict::failed) {
            give_up(when);
            break;
        }
    }
    cell_.point->check().conclude(result_.validation);
}

void CellRun::give_up(std::string_view when) {
    result_.status = record::Status::invalid;
    result_.reason = fmt::format("wrong payload {}: {}", when, result_.validation.first_mismatch);
    result_.first_iteration_ns = 0;
    over_ = true;
}

// OSU's programs warm up in the loop that they time, so their warm-up is a part of the first chunk.
void CellRun::warm_up() {
    if (options_.mode == Mode::osu) {
        lead_ = *options_.warmup;
        result_.warmup_iterations = lead_;
        sampler_.set_osu(cell_.point->osu(), *cell_.backend);
        set_up_sampling(static_cast<double>(result_.first_iteration_ns));
        return;
    }
    WarmUpRule rule(options_.warmup, cell_.positions.size(), result_.first_iteration_ns, options_.time_limit_ns);
    while (std::uint64_t const batch = from_rank(launch_.bootstrap, rule.next())) {
        Nanoseconds const begin = clock();
        SampleChunk const& chunk = sampler_.run(rule.iterations(), batch);
        rule.add(batch, statistics::median(chunk.headline), clock() - begin);
    }
    result_.warmup_iterations = rule.iterations();
    set_up_sampling(rule.iteration_ns());
    if (!options_.iterations && options_.mode == Mode::stream) {
        fit_stream(rule.iteration_ns());
    }
}

// In the warm-up ranks begin each iteration together. Where they share processing units, each such start waits for
// turns, and an iteration takes up to a thousand times as long as back to back. With -x 0 only the first iteration is
// known, which may be as slow.
void CellRun::fit_stream(double iteration_ns) {
    constexpr int attempts = 4;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::uint64_t const iterations = sampler_.iterations_per_sample();
        auto const streamed_ns = static_cast<double>(sampler_.run(0, 1).headline.front());
        result_.warmup_iterations += iterations;
        if (streamed_ns * 2 > iteration_ns) {
            return;
        }
        iteration_ns = streamed_ns;
        set_up_sampling(iteration_ns);
    }
}

void CellRun::set_up_sampling(double iteration_ns) {
    std::uint64_t const draws = cell_.point->plans().size();
    bool const gated = options_.gate && on_device(cell_.point->memory());  // which holds back one iteration of a sample
    SampleShape const shape =
        from_rank(launch_.bootstrap, sample_shape(options_, draws, iteration_ns, device_driven() && !gated));
    sampler_.set_iterations_per_sample(shape.iterations);
    if (gated) {
        sampler_.set_gate(&gate_.emplace());
    }
    unrecorded_ = shape.unrecorded;
    set_up_start(iteration_ns);
    if (options_.mode == Mode::nccl) {
        sampler_.set_mean();
    }
    if (options_.mode == Mode::nccl || options_.mode == Mode::stream) {
        sampler_.set_queued();
    }
    result_.definition =
        options_.mode == Mode::osu ? osu_definition(cell_.point->osu()) : definition_of(options_.mode, sampler_);
    result_.time_divisor = options_.mode == Mode::osu ? cell_.point->osu().divisor : 1;
    result_.iterations_per_sample = shape.iterations;
    if (decides()) {
        StoppingLimits limits;
        if (options_.iterations) {
            limits.fixed_samples = *options_.iterations / shape.iterations;
        }
        limits.at_once = options_.mode == Mode::osu;
        limits.time_ns = options_.time_limit_ns;
        limits.precision =
            options_.mode == Mode::stream || options_.mode == Mode::nccl ? stream_precision : latency_precision;
        limits.pass = shape.iterations == 1 ? draws : 1;  // longer samples mix the draws themselves
        rule_.emplace(limits, static_cast<Nanoseconds>(iteration_ns * static_cast<double>(shape.iterations)));
    }
}

// By what ranks leave a barrier apart matters little to a stream, but is some percent of the samples that a device's
// short iterations fill. Of a stream the span is taken because a rank that waits for its turn on a processing unit may
// begin when its peers are done with it: then no rank's own duration has both in it.
void CellRun::set_up_start(double iteration_ns) {
    std::uint64_t const iterations = sampler_.iterations_per_sample();
    bool const foreign = is_foreign(options_.mode);
    bool const streams = options_.mode == Mode::stream && options_.cache != record::CacheMode::flush;
    StartPlan plan = launch_.start.plan(iteration_ns * static_cast<double>(iterations));
    if (streams || foreign || iterations > 1) {
        plan.method = StartMethod::barrier;
        plan.margin_ns = 0;
    }
    sampler_.set_start({launch_.bootstrap, launch_.start.clock(), plan, launch_.start.oversubscribed()});
    sampler_.set_span(plan.clock_is_good && !foreign && (streams || plan.method == StartMethod::window));
    result_.sync.method = name_of(plan.method);
    result_.sync.is_span = sampler_.spans();
}

void CellRun::round(std::uint64_t number) {
    activate();
    launch_.watchdog.activity(fmt::format("round {}", number));
    LoadVisit const load(load_.load());
    load_.measure_alone(launch_.bootstrap);
    (void)launch_.start.clock().check();
    if (rule_) {
        rule_->begin_round();
    }
    bool to_check = options_.validate && cell_.point->check().has_payload();  // in one chunk of the visit
    bool to_mark = wants_marks();                                             // behind one chunk of the visit
    while (true) {
        StoppingDecision const decision = from_rank(launch_.bootstrap, rule_ ? rule_->next() : StoppingDecision{});
        if (decision.samples == 0) {
            result_.sync.clock_error_ns = std::max(result_.sync.clock_error_ns, launch_.start.clock().check());
            if (decision.stop != Stop::not_yet) {
                conclude(decision.stop);
            }
            return;
        }
        std::vector<Nanoseconds> headline;
        Nanoseconds elapsed = 0;
        for (ChunkPart const& part : parts_of(number, decision.samples, std::exchange(to_check, false))) {
            if (part.checked) {
                prepare_payload(number, part);
            }
            Nanoseconds const begin = clock();
            bool const in_time = take(part, headline);
            elapsed += clock() - begin;
            if (part.checked && !payload_is_right(!in_time, number)) {
                return;
            }
        }
        if (std::exchange(to_mark, false)) {
            Nanoseconds const begin = clock();
            take_marked(decision.samples);
            elapsed += clock() - begin;
        }
        if (rule_) {
            rule_->add(headline, elapsed);
        }
    }
}

bool CellRun::device_driven() const {
    return cell_.positions.front()->queues_iterations();
}

// With one phase on the host that is the whole iteration, which needs no mark.
bool CellRun::wants_marks() const {
    return options_.mode == Mode::isolated && (device_driven() || cell_.point->phases().labels().size() > 1);
}

// Whole turns over the buffers, else over the draws, where they fit: the samples that come next find the caches as if
// nothing had been in between.
void CellRun::take_marked(std::uint64_t samples) {
    constexpr std::uint64_t samples_per_marked = 2;
    std::uint64_t const wanted = std::max<std::uint64_t>(1, samples_ / samples_per_marked);
    if (marked_ >= wanted) {
        return;
    }
    std::uint64_t const positions = cell_.positions.size();
    std::uint64_t const draws = cell_.point->plans().size();
    std::uint64_t const turn = positions <= samples ? positions : draws <= samples ? draws : 1;
    std::uint64_t const count = std::min(samples, whole_passes(wanted - marked_, turn));
    MarkedChunk const& chunk = sampler_.run_marked(samples_, count, std::min<std::uint64_t>(unrecorded_, 1));
    marked_ += count;
    if (decides()) {
        device_.insert(device_.end(), chunk.device.begin(), chunk.device.end());
        phase_samples_.insert(phase_samples_.end(), chunk.phases.begin(), chunk.phases.end());
        phase_ends_.insert(phase_ends_.end(), chunk.ended.begin(), chunk.ended.end());
        requests_.add(chunk.requests);
    }
}

std::vector<ChunkPart> CellRun::parts_of(std::uint64_t round, std::uint64_t samples, bool checked) const {
    // Where nothing may come between iterations, or they are to find what the last one left in the same buffers.
    bool const in_one =
        options_.mode == Mode::osu || sampler_.iterations_per_sample() > 1 || options_.cache == record::CacheMode::warm;
    if (!checked || in_one) {
        return {{samples, unrecorded_, checked}};
    }
    return parts_of_chunk(random_word(round, place_purpose), samples, unrecorded_, cell_.point->slots());
}

std::uint32_t CellRun::random_word(std::uint64_t round, std::uint32_t purpose) const {
    return philox({static_cast<std::uint32_t>(round), static_cast<std::uint32_t>(samples_), 0, purpose},
                  options_.order_seed)
        .front();
}

bool CellRun::take(ChunkPart const& part, std::vector<Nanoseconds>& headline) {
    if (options_.mode != Mode::osu) {
        sampler_.run_unrecorded(samples_, part.unrecorded);
    }
    cpu_quota_.begin();
    processor_.begin();
    load_.begin();
    SampleChunk const& chunk = sampler_.run(samples_, part.samples, lead_);
    load_.end();
    lead_ = unrecorded_;
    processor_.end();
    cpu_quota_.end();
    gpu_clocks_.ask();
    headline.insert(headline.end(), chunk.headline.begin(), chunk.headline.end());
    keep(chunk);
    if (gate_ && gate_->ran_out()) {
        sampler_.set_gate(nullptr);
    }
    return chunk.late == 0;
}

void CellRun::prepare_payload(std::uint64_t round, ChunkPart const& part) {
    std::uint64_t const each = sampler_.iterations_per_sample();
    launch_.watchdog.touch();
    std::uint64_t const before = options_.mode == Mode::osu ? lead_ : part.unrecorded;
    cell_.point->check().prepare(random_word(round, checked_purpose), {samples_ * each, part.samples * each, before});
}

bool CellRun::payload_is_right(bool again, std::uint64_t round) {
    cell_.point->check().verify(again, result_.validation);
    launch_.watchdog.touch();
    if (result_.validation.verdict == record::Verdict::failed) {
        give_up(fmt::format("while timing, in round {}", round));
    }
    return !over_;
}

void CellRun::drop(double times_slower) {
    activate();
    result_.dropped = times_slower;
    conclude(Stop::time);
}

CellSoFar CellRun::so_far() const {
    CellSoFar so_far;
    if (rule_ && result_.status == record::Status::ok && !result_.dropped) {
        so_far.round_medians_ns = rule_->round_medians();
    }
    so_far.may_drop = !over_ && !cell_.is_default && !cell_.is_named;
    return so_far;
}

void CellRun::keep(SampleChunk const& chunk) {
    samples_ += chunk.own.size();
    result_.sync.late += chunk.late;
    ranks_.keep(chunk);
    if (decides()) {
        headline_.insert(headline_.end(), chunk.headline.begin(), chunk.headline.end());
        for (SampleTimes const& sample : chunk.samples) {
            slowest_.push_back(sample.straggler);
        }
        bool const one_phase = options_.mode == Mode::isolated && sampler_.iterations_per_sample() == 1 &&
                               cell_.point->phases().labels().size() == 1 && !wants_marks();
        if (one_phase) {
            std::transform(chunk.samples.begin(), chunk.samples.end(), std::back_inserter(phase_samples_),
                           [](SampleTimes const& sample) { return sample.max_rank; });
        }
    }
}

void CellRun::conclude(Stop stop) {
    if (options_.validate) {
        launch_.watchdog.activity("validation after timing");
        check(cell_.point->check().after(), "after timing");
        if (over_) {
            return;
        }
        result_.validation.verdict = record::Verdict::passed;
    }
    if (options_.bit_pattern_iterations > 0) {
        compare_bit_patterns();
    }
    result_.stop_reason = name_of(stop);
    result_.sync.margin_ns = sampler_.start().plan().margin_ns;
    result_.sync.clock_error_ns = reduce_over_ranks(launch_.bootstrap, result_.sync.clock_error_ns, Fold::max);
    result_.sync.drift_ppm = max_over_ranks(launch_.bootstrap, std::abs(launch_.start.clock().drift_ppm()));
    result_.throttled = gpu_clocks_.over_ranks(launch_.bootstrap);
    result_.cpu_quota = cpu_quota_.over_ranks(launch_.bootstrap);
    if (result_.cpu_quota) {
        result_.throttled = result_.throttled.value_or(false) || result_.cpu_quota->throttled > 0;
    }
    result_.figures = load_.over_ranks(launch_.bootstrap);
    auto const of_processor = processor_.over_ranks(launch_.bootstrap);
    result_.figures.insert(result_.figures.end(), of_processor.begin(), of_processor.end());
    if (sampler_.queues() && samples_ > 0) {
        result_.queueing = ranks_.queueing(launch_.bootstrap, sampler_.iterations_per_sample());
    }
    if (decides()) {
        summarize_samples();
    }
    bool const launch_blocks = std::any_of(cell_.positions.begin(), cell_.positions.end(),
                                           [](auto const& compiled) { return compiled->launch_blocks(); });
    ranks_.summarize(launch_.bootstrap, cell_.point->plans(), launch_blocks, result_);
    if (is_foreign(options_.mode)) {
        result_.rank_means = rank_means();
    }
    over_ = true;
}

// Compares the first draw in the first buffers.
void CellRun::compare_bit_patterns() {
    launch_.watchdog.activity("bit patterns of sums");
    Plan const& plan = cell_.point->plan_at(0);
    Buffers const& buffers = cell_.point->slot_at(0);
    std::uint64_t const patterns =
        count_bit_patterns(launch_.bootstrap, cell_.point->space(), buffers, plan, *cell_.positions.front(),
                           options_.bit_pattern_iterations, options_.order_seed, [this] { launch_.watchdog.touch(); });
    result_.bit_patterns = patterns;
    if (patterns > 0) {
        PlanPayload(cell_.point->space(), buffers, plan).prepare(0);  // sums of such operands may be slow for others
    }
}

record::RankMeans CellRun::rank_means() const {
    OsuProgram const program = options_.mode == Mode::osu ? cell_.point->osu() : OsuProgram{};
    auto const parts = static_cast<double>(sampler_.iterations_per_sample()) * program.divisor;
    std::vector<double> const all = from_every_rank(launch_.bootstrap, ranks_.mean_ns() / parts);
    auto const count =
        std::min(all.size(), static_cast<std::size_t>(std::max(1, program.ranks_with_times(launch_.bootstrap.size()))));
    auto const end = all.begin() + static_cast<std::ptrdiff_t>(count);
    auto const [least, most] = std::minmax_element(all.begin(), end);
    return {std::accumulate(all.begin(), end, 0.0) / static_cast<double>(count), *least, *most};
}

void CellRun::summarize_samples() {
    result_.time = summarize(headline_);
    result_.samples_ns = headline_;
    result_.round_medians_ns = rule_->round_medians();
    result_.median_of_rounds_ns = statistics::median(result_.round_medians_ns);
    result_.aa_ratio = statistics::aa_ratio(result_.round_medians_ns);
    std::size_t const draws = result_.iterations_per_sample == 1 ? cell_.point->plans().size() : 1;
    result_.series = describe_series(headline_, draws);
    result_.flags = statistics::flags_of(headline_, draws);
    std::erase(device_, no_device_time);
    if (result_.queueing && result_.queueing->host_bound) {
        result_.flags.emplace_back("host_bound");
    }
    if (!device_.empty()) {
        record::TimeSummary const time = summarize(device_);
        result_.device = record::DeviceTiming{time, result_.time.median - time.median, sampler_.was_gated()};
    }
    std::vector<record::Figure> const latencies = requests_.figures();
    result_.figures.insert(result_.figures.end(), latencies.begin(), latencies.end());
    result_.straggler = find_straggler(slowest_, launch_.bootstrap.size());
    result_.critical_phase = critical_phase(cell_.point->phases().labels(), phase_samples_);
    std::size_t const labels = cell_.point->phases().labels().size();
    for (std::size_t label = 0; label < labels && !phase_samples_.empty(); ++label) {
        std::vector<Nanoseconds> const samples = samples_of_phase(phase_samples_, label, labels);
        if (samples.empty()) {
            continue;  // only draws that were not timed have it
        }
        record::PhaseResult phase{cell_.point->phases().labels()[label], summarize(samples), std::nullopt};
        if (!phase_ends_.empty()) {
            record::TimeSummary const ended = summarize(samples_of_phase(phase_ends_, label, labels));
            phase.ended = {ended.median, ended.median_low, ended.median_high};
        }
        result_.phases.push_back(std::move(phase));
    }
}

}  // namespace dlmb::measure
