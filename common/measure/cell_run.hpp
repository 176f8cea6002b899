// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Measures one cell: checked first iteration, warm-up, rounds, checked last iteration, result. What one sample consists
// of is chosen once after the warm-up, and said in words, which decide which cells may be compared.
// Collective throughout; rank 0 decides, from its own clock alone, and the others follow.
#pragma once

#include "common/measure/diagnosis/processor_log.hpp"
#include "common/measure/diagnosis/rank_log.hpp"
#include "common/measure/runner.hpp"
#include "common/measure/sampling/sampler.hpp"
#include "common/measure/sampling/stopping_rule.hpp"
#include "common/measure/validation/payload_check.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::measure {

struct SampleShape {
    std::uint64_t iterations = 1;  // per sample
    std::uint64_t unrecorded = 0;  // iterations before each chunk, to leave what the pause between chunks did
};

/// Samples of several iterations: in modes that run them back to back, and where a device's clock ticks too coarsely
/// for one iteration. A fixed count is what all samples together have, so it is divided into equal ones.
/// `iteration_ns`: the warm iteration. `device_driven`: the plan needs no host while it runs.
[[nodiscard]] SampleShape sample_shape(RunnerOptions const& options, std::uint64_t draws, double iteration_ns,
                                       bool device_driven = false);

/// Samples that are taken without a pause, behind iterations that are not recorded.
struct ChunkPart {
    std::uint64_t samples = 0;
    std::uint64_t unrecorded = 0;
    bool checked = false;  // some of them
    bool operator==(ChunkPart const&) const = default;
};

/// A chunk of `samples` single iterations, of which a part, anywhere by `random`, is checked. `ignored`: iterations
/// that are not recorded, before each part. The checked part and the unrecorded iterations before it use no slot twice,
/// so that nothing of one iteration can hide behind another one. With one slot nothing unrecorded is before it.
[[nodiscard]] std::vector<ChunkPart> parts_of_chunk(std::uint32_t random, std::uint64_t samples, std::uint64_t ignored,
                                                    std::uint64_t slots);

/// Says in words what the samples are that `sampler` takes from now on.
[[nodiscard]] std::string definition_of(Mode mode, Sampler const& sampler);

class CellRun {
public:
    /// The arguments must outlive it.
    CellRun(LaunchShared const& launch, Cell const& cell);

    [[nodiscard]] Cell const& cell() const { return cell_; }
    /// First iterations, checked, and warm-up.
    void start();
    /// One visit; the last one checks the payload again and fills in the result.
    void round(std::uint64_t number);
    /// Ends the cell with the samples that it has. `times_slower`: than the best cell of its backend.
    void drop(double times_slower);
    /// No rounds on ranks other than the deciding one.
    [[nodiscard]] CellSoFar so_far() const;
    /// True once the result is final: stopped, or its payload was wrong.
    [[nodiscard]] bool over() const { return over_; }
    [[nodiscard]] record::CellResult const& result() const { return result_; }

private:
    void activate();
    void check(std::vector<std::uint64_t> const& positions, char const* when);
    [[nodiscard]] std::vector<ChunkPart> parts_of(std::uint64_t round, std::uint64_t samples, bool checked) const;
    [[nodiscard]] std::uint32_t random_word(std::uint64_t round, std::uint32_t purpose) const;
    /// False: some samples were late and taken again.
    [[nodiscard]] bool take(ChunkPart const& part, std::vector<Nanoseconds>& headline);
    [[nodiscard]] bool device_driven() const;
    /// Whether parts of an iteration have times, too: phases, and the device's own.
    [[nodiscard]] bool wants_marks() const;
    /// Iterations for the parts, half as many as there are samples, but at most `samples` now.
    void take_marked(std::uint64_t samples);
    void prepare_payload(std::uint64_t round, ChunkPart const& part);
    /// False: the cell is over.
    [[nodiscard]] bool payload_is_right(bool again, std::uint64_t round);
    void give_up(std::string_view when);
    void warm_up();
    void set_up_sampling(double iteration_ns);
    /// Lengthens the samples of a stream while an iteration takes less than half of what was believed. `iteration_ns`:
    /// what the warm-up said.
    void fit_stream(double iteration_ns);
    void keep(SampleChunk const& chunk);
    void conclude(Stop stop);
    void summarize_samples();
    void set_up_start(double iteration_ns);
    void compare_bit_patterns();
    [[nodiscard]] record::RankMeans rank_means() const;
    [[nodiscard]] bool decides() const;
    [[nodiscard]] Nanoseconds clock() const;

    LaunchShared const& launch_;
    Cell const& cell_;
    RunnerOptions const options_;  // of this cell: with the counts of its mode
    Sampler sampler_;
    std::optional<DeviceGate> gate_;
    std::optional<StoppingRule> rule_;  // on the deciding rank
    std::uint64_t unrecorded_ = 0;      // iterations before each chunk
    std::uint64_t lead_ = 0;            // of OSU's programs: calls before the next chunk, in one run with it
    std::uint64_t samples_ = 0;
    std::uint64_t marked_ = 0;  // iterations with marks
    RankLog ranks_;
    ThrottleLog gpu_clocks_;
    QuotaLog cpu_quota_;
    ProcessorLog processor_;
    LoadLog load_;
    std::vector<Nanoseconds> headline_;
    std::vector<Rank> slowest_;
    std::vector<Nanoseconds> device_;
    std::vector<Nanoseconds> phase_samples_;  // as in MarkedChunk
    std::vector<Nanoseconds> phase_ends_;     // empty where the samples are those of the only phase
    RequestLatencies requests_;               // of the deciding rank
    record::CellResult result_;
    bool over_ = false;
};

}  // namespace dlmb::measure
