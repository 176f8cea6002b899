// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Output of rank 0: table rows, result lines, the verdict at the end, and progress between two rows. On the
// other ranks it only counts, so that all ranks leave with the same exit code.
#pragma once

#include "common/base/clock.hpp"
#include "common/base/command_line/exit_codes.hpp"
#include "common/formats/record/record.hpp"
#include "common/formats/record/result_file.hpp"
#include "common/measure/diagnosis/watchdog.hpp"
#include "common/run/sweep.hpp"
#include "common/run/tables/table.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb::run {

/// The quality of a launch's figures, from all its cells.
class LaunchSummary {
public:
    void add(record::Record const& cell);
    /// Absent where no cell had two rounds.
    [[nodiscard]] std::optional<record::SelfComparison> self_comparison() const;
    /// Lines that begin with '#'; empty when there is nothing to say.
    [[nodiscard]] std::string text() const;
    /// False: some cell has times, and nobody looked at its bytes.
    [[nodiscard]] bool all_checked() const { return unchecked_ == 0; }

private:
    std::vector<std::pair<double, std::string>> deviations_;  // |aa_ratio - 1| and whose
    std::map<std::string, std::uint64_t> flagged_;            // cells by flag
    std::map<std::string, std::uint64_t> suspected_;          // cells by "rank 2 is delayed"
    std::uint64_t ok_cells_ = 0;
    std::uint64_t unchecked_ = 0;  // cells with times
    std::uint64_t timed_ = 0;      // iterations of checked cells
    std::uint64_t timed_checked_ = 0;
    std::uint64_t below_floor_ = 0;
    std::uint64_t throttled_ = 0;
    std::uint64_t memory_elsewhere_ = 0;  // cells
    std::uint64_t few_samples_ = 0;       // cells
};

/// On a terminal one line of standard error that is always true; elsewhere (mpirun makes standard error a pipe) a line
/// at most every ten seconds.
class ProgressLine {
public:
    /// `name`: of the program, before lines. `clock`: of when a line is due.
    ProgressLine(bool speaks, std::string name, std::function<Nanoseconds()> clock = now_ns);
    ProgressLine(ProgressLine const&) = delete;
    ProgressLine& operator=(ProgressLine const&) = delete;
    ~ProgressLine() { clear(); }

    void show(std::string text);
    /// Reports that the activity shown last goes on.
    void still();
    void clear();

private:
    bool speaks_;
    bool terminal_;
    std::string name_;
    std::function<Nanoseconds()> clock_;
    Nanoseconds last_line_ns_;
    std::string text_;
    bool shown_ = false;
};

/// "may take up to 4 min: 24 cells, each up to 10 s (--time-limit)"; empty below half a minute, or without a limit.
[[nodiscard]] std::string length_of(std::uint64_t cells, measure::RunnerOptions const& options);
/// ", up to 20 s": of cells that take turns; empty without a limit.
[[nodiscard]] std::string at_most(std::uint64_t cells, measure::RunnerOptions const& options);

class Reporter {
public:
    /// On rank 0 opens the results file: throws OutputError. `launch` is written as its first line.
    Reporter(Options const& options, PatternType const& type, record::Launch launch, bool speaks);

    /// Prepares the line of a cell that is about to be measured, so that a hang or a signal can still be recorded.
    void expect(std::string const& name, record::Record const& cell);
    void cell(record::Record const& cell, std::string_view title);
    /// Prints the rows of cells that took turns and are done.
    void rows();
    /// Adds figures to a cell whose line is written: `statistics`, which `cell` has among its own.
    void derived(record::Record const& cell, std::string_view title, std::map<std::string, double> const& statistics);
    /// A line of the table that holds no figures.
    void comment(std::string_view text);
    /// A line on standard error, before something that may take long or much.
    void announce(std::string_view text);
    /// A cell needs no measuring: the results file holds it. nullptr: another rank knows what it holds.
    void resumed(record::Record const* cell);
    /// "PROGRAM: warning: ..." on standard error.
    void warn(std::string_view warning);
    /// The titles that cells will have.
    void expect_points(std::span<SweepPoint const> points);
    /// "[3/8] deepseek-v3 host" and what is being done about it.
    void point(std::size_t number, std::size_t points, std::string_view title);
    void doing(std::string_view what);
    /// That is still being done.
    void still() { progress_.still(); }
    /// Async-signal-safe: records what stood still. Prints one line on any rank. The process must end after it.
    // NOLINTNEXTLINE(bugprone-exception-escape): see FixedText
    void hang(measure::HangReport const& report, Rank rank, std::string_view host) noexcept;
    /// Figures of merit, the end line and DLMB_RESULT: PASS, FAIL, UNCHECKED, or SKIPPED where nothing could run.
    /// Returns this rank's view of the exit code.
    int finish();
    [[nodiscard]] record::Launch const& launch() const { return launch_; }

private:
    /// Result lines of a cell that did not end, each up to and from its reason: a signal handler only fills in this.
    struct PreparedLines {
        std::string cell_id;
        std::array<std::string, 2> of_timeout;
        std::array<std::string, 2> of_failure;
    };

    void say(std::string_view text);
    void write(std::string const& line);
    [[nodiscard]] int exit_code() const;

    record::Launch launch_;
    bool speaks_;
    std::unique_ptr<Table> table_;
    std::optional<record::ResultWriter> writer_;
    // By the name that the watchdog knows (of a cell, or of the point that it is set up for); changed with the signals
    // held.
    std::map<std::string, PreparedLines, std::less<>> expected_;
    std::map<std::string, std::uint64_t> counts_;
    LaunchSummary summary_;
    std::uint64_t resumed_ = 0;
    std::uint64_t resumed_unchecked_ = 0;
    std::uint64_t saved_ok_ = 0;  // --resume does not run these again
    bool lost_output_ = false;
    bool lost_table_ = false;
    std::string_view mark_;  // of lines for scripts
    bool prints_figures_;
    std::string figures_;
    ProgressLine progress_;
    std::string point_;
};

}  // namespace dlmb::run
