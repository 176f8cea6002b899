// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/reporter.hpp"

#include "common/base/digits.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/base/statistics/order_statistics.hpp"
#include "common/formats/record/json.hpp"
#include "common/run/derived_figures.hpp"
#include "common/run/fixed_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <unistd.h>

namespace dlmb::run {
namespace {

// One cell in so many: in a few cells of many the order in which ranks come looks like a delay.
constexpr std::uint64_t suspicions_told = 10;

// One page in so many: the kernel puts single ones elsewhere when a node is nearly full, which changes no figure.
constexpr std::uint64_t pages_told = 10;

bool lies_elsewhere(std::optional<record::HostPages> const& pages) {
    return pages && pages->elsewhere > 0 && pages->elsewhere * pages_told >= pages->sampled;
}

}  // namespace

void LaunchSummary::add(record::Record const& cell) {
    if (cell.result.aa_ratio) {
        deviations_.emplace_back(std::abs(*cell.result.aa_ratio - 1), cell.cell_id);
    }
    for (std::string const& flag : cell.result.flags) {
        ++flagged_[flag];
    }
    if (cell.result.status == record::Status::ok) {
        ++ok_cells_;
        bool const checked = cell.result.validation.verdict == record::Verdict::passed;
        unchecked_ += checked ? 0U : 1U;
        timed_ += checked ? cell.result.time.samples * cell.result.iterations_per_sample : 0U;
        timed_checked_ += cell.result.validation.timed_checked.value_or(0);
    }
    for (record::Suspect const& suspect : cell.result.suspects) {
        ++suspected_[fmt::format("rank {} is {}", suspect.rank, name_of(suspect.kind))];
    }
    below_floor_ += cell.result.below_floor.value_or(false) ? 1U : 0U;
    throttled_ += cell.result.throttled.value_or(false) ? 1U : 0U;
    memory_elsewhere_ += lies_elsewhere(cell.host_pages) ? 1U : 0U;
    few_samples_ += cell.result.status == record::Status::ok && !cell.result.time.median_low ? 1U : 0U;
}

std::optional<record::SelfComparison> LaunchSummary::self_comparison() const {
    if (deviations_.empty()) {
        return std::nullopt;
    }
    std::vector<double> values;
    for (auto const& [deviation, id] : deviations_) {
        values.push_back(deviation);
    }
    auto const& [largest, id] = *std::max_element(deviations_.begin(), deviations_.end());
    return record::SelfComparison{values.size(), statistics::median(values), largest, id};
}

std::string LaunchSummary::text() const {
    std::string text;
    if (ok_cells_ > unchecked_) {
        text += fmt::format("# bytes checked before and after timing, and in {} of {} timed iterations\n",
                            timed_checked_, timed_);
    }
    auto const tell = [&](std::string_view what, std::uint64_t cells) {
        text += cells > 0 ? fmt::format("# {}: {}\n", what, counted(cells, "cell")) : "";
    };
    tell("no byte checked", unchecked_);
    if (auto const compared = self_comparison()) {
        text += fmt::format("# repeatability: odd and even rounds differ by {}", human_percent(compared->median));
        text += compared->cells > 1 ? fmt::format(" (worst cell {})\n", human_percent(compared->largest)) : "\n";
    }
    tell("fewer than 6 samples, so no interval (raise --time-limit or -i)", few_samples_);
    for (auto const& [flag, cells] : flagged_) {
        tell("flagged " + flag, cells);
    }
    for (auto const& [suspicion, cells] : suspected_) {
        if (cells * suspicions_told >= ok_cells_) {
            text += fmt::format("# {}: {} of {}\n", suspicion, cells, counted(ok_cells_, "cell"));
        }
    }
    tell("too short for the clock to be compared", below_floor_);
    tell("throttled (clocks of a GPU held down, or a quota of processor time used up)", throttled_);
    tell("buffers on another NUMA node than their rank", memory_elsewhere_);
    return text;
}

namespace {

constexpr std::string_view unsaved = "DLMB-UNSAVED ";
constexpr std::string_view erase_line = "\r\x1b[K";
constexpr Nanoseconds between_lines_ns = 10'000'000'000;

/// "20 s", "4 min", "2.5 h".
std::string rough_duration(double seconds) {
    constexpr double minute = 60;
    constexpr double hour = 3600;
    return seconds < 2 * minute ? fmt::format("{:.0f} s", std::ceil(seconds))
           : seconds < 2 * hour ? fmt::format("{:.0f} min", std::ceil(seconds / minute))
                                : fmt::format("{:.1f} h", seconds / hour);
}

/// Seconds that so many cells may take one after the other; 0: nothing limits it.
double seconds_of(std::uint64_t cells, measure::RunnerOptions const& options) {
    bool const limited = !options.iterations && (options.time_limited || !is_foreign(options.mode));
    return limited ? static_cast<double>(cells) * static_cast<double>(options.time_limit_ns) / 1e9 : 0;
}

}  // namespace

std::string length_of(std::uint64_t cells, measure::RunnerOptions const& options) {
    constexpr double worth_saying = 30;
    double const seconds = seconds_of(cells, options);
    return seconds < worth_saying
               ? ""
               : fmt::format("may take up to {}: {}, each up to {:g} s (--time-limit)", rough_duration(seconds),
                             counted(cells, "cell"), static_cast<double>(options.time_limit_ns) / 1e9);
}

std::string at_most(std::uint64_t cells, measure::RunnerOptions const& options) {
    double const seconds = seconds_of(cells, options);
    return seconds > 0 ? ", up to " + rough_duration(seconds) : "";
}

ProgressLine::ProgressLine(bool speaks, std::string name, std::function<Nanoseconds()> clock)
    : speaks_(speaks), terminal_(isatty(STDERR_FILENO) == 1), name_(std::move(name)), clock_(std::move(clock)),
      last_line_ns_(clock_()) {}

void ProgressLine::show(std::string text) {
    text_ = std::move(text);
    if (speaks_ && terminal_) {
        print_error(fmt::format("{}{}", erase_line, text_));
        shown_ = true;
    }
    still();
}

void ProgressLine::still() {
    if (!speaks_ || terminal_ || clock_() - last_line_ns_ < between_lines_ns) {
        return;
    }
    last_line_ns_ = clock_();
    print_error(fmt::format("{}: {}\n", name_, text_));
}

void ProgressLine::clear() {
    if (shown_) {
        print_error(erase_line);
        shown_ = false;
    }
}

namespace {

std::array<std::string, 2> line_around_reason(std::string const& launch_id, record::Record cell,
                                              record::Status status) {
    constexpr char reason = '\x7f';  // a character that JSON leaves as it is, and that no name has
    cell.result.status = status;
    cell.result.reason = std::string(1, reason);
    std::string const line = record::to_json_line(launch_id, cell);
    std::size_t const at = line.rfind(reason);
    return {line.substr(0, at), line.substr(at + 1) + '\n'};
}

}  // namespace

Reporter::Reporter(Options const& options, PatternType const& type, record::Launch launch, bool speaks)
    : launch_(std::move(launch)), speaks_(speaks), table_(make_table(options)), mark_(mark_of(options.layout)),
      prints_figures_(options.figures || isatty(STDOUT_FILENO) == 0), progress_(speaks, launch_.program) {
    if (!speaks_) {
        return;
    }
    if (options.results) {
        writer_.emplace(*options.results);
        writer_->append(record::to_json_line(launch_));
    }
    for (std::string const& warning : launch_.environment.warnings) {
        warn(warning);
    }
    say(table_->header(launch_, type.name));
}

void Reporter::warn(std::string_view warning) {
    if (speaks_) {
        print_error(fmt::format("{}: warning: {}\n", launch_.program, warning));
    }
}

void Reporter::expect_points(std::span<SweepPoint const> points) {
    std::set<std::string> told;
    for (SweepPoint const& point : points) {
        table_->expect(point);
        if (!point.derived.empty() && told.insert(point.derived).second) {
            comment(point.derived);
        }
    }
}

void Reporter::point(std::size_t number, std::size_t points, std::string_view title) {
    point_ = fmt::format("[{}/{}] {}", number, points, title);
}

void Reporter::doing(std::string_view what) {
    progress_.show(fmt::format("{}: {}", point_, what));
}

void Reporter::expect(std::string const& name, record::Record const& cell) {
    table_->expect_cell(cell.cell_id);
    if (!writer_ && !lost_output_) {
        return;
    }
    PreparedLines lines{cell.cell_id, line_around_reason(launch_.launch_id, cell, record::Status::timeout),
                        line_around_reason(launch_.launch_id, cell, record::Status::failed)};
    measure::HeldSignals const held;
    expected_[name] = std::move(lines);
}

void Reporter::cell(record::Record const& cell, std::string_view title) {
    measure::HeldSignals const held;  // a cell has one end
    std::erase_if(expected_, [&](auto const& entry) { return entry.second.cell_id == cell.cell_id; });
    ++counts_[std::string(name_of(cell.result.status))];
    if (!speaks_) {
        return;
    }
    summary_.add(cell);
    write(record::to_json_line(launch_.launch_id, cell));
    saved_ok_ += writer_ && cell.result.status == record::Status::ok ? 1U : 0U;
    table_->add(cell, title);
    if (prints_figures_) {
        std::string const figure = figure_of_merit(cell);
        figures_ += figure.empty() ? "" : std::string(mark_) + figure;
    }
}

void Reporter::rows() {
    if (speaks_) {
        progress_.clear();
        say(table_->ready());
    }
}

void Reporter::derived(record::Record const& cell, std::string_view title,
                       std::map<std::string, double> const& statistics) {
    if (!speaks_) {
        return;
    }
    measure::HeldSignals const held;
    write(record::to_json_line(record::Derived{launch_.launch_id, cell.cell_id, statistics}));
    std::string const line = statistics.count("interference") > 0 ? interference_line(cell) : overlap_line(cell);
    say(fmt::format("# {} {}: {}", title, record::way_text(cell.identity), line.substr(2)));
}

void Reporter::resumed(record::Record const* cell) {
    ++resumed_;
    resumed_unchecked_ += cell != nullptr && cell->result.validation.verdict != record::Verdict::passed ? 1U : 0U;
}

void Reporter::comment(std::string_view text) {
    if (speaks_) {
        say(fmt::format("# {}\n", text));
    }
}

void Reporter::announce(std::string_view text) {
    if (speaks_) {
        progress_.clear();
        print_error(fmt::format("{}: {}\n", launch_.program, text));
    }
}

// NOLINTNEXTLINE(bugprone-exception-escape): see FixedText
void Reporter::hang(measure::HangReport const& report, Rank rank, std::string_view host) noexcept {
    constexpr Nanoseconds second = 1'000'000'000;
    FixedText what;
    what.add("rank {} ({}): {}, {}", rank, host, report.cell, report.activity);
    if (!report.step.empty()) {
        what.add(", step \"{}\"", report.step);
    }
    if (report.signal == 0) {
        what.add(": no progress for {} s", (report.silent_ns + second / 2) / second);
    } else {
        what.add(": ended by signal {} (the job was cancelled, or another rank ended)", report.signal);
    }
    FixedText said;
    said.add("{}: error: {}\n", launch_.program, what.view());
    if (auto const found = expected_.find(report.cell); found != expected_.end()) {
        auto const& [head, tail] = report.signal == 0 ? found->second.of_timeout : found->second.of_failure;
        FixedText reason;
        reason.add_json(what.view());
        std::array<std::string_view, 3> const line{head, reason.view(), tail};
        if (!writer_ || !writer_->append_in_handler(line)) {
            if (writer_) {
                writer_->print_removed_lines(STDOUT_FILENO, unsaved);
            }
            put(STDOUT_FILENO, unsaved);
            std::for_each(line.begin(), line.end(), [](std::string_view piece) { put(STDOUT_FILENO, piece); });
        }
    }
    if (writer_) {
        said.add("{}: {} cells of the results file are finished; --resume runs the others\n", launch_.program,
                 resumed_ + saved_ok_);
    }
    put(STDERR_FILENO, said.view());
}

/// Prints to standard output. A table that cannot be written must not end the measurement.
void Reporter::say(std::string_view text) {
    try {
        write_output("-", text);
    } catch (OutputError const& error) {
        if (!lost_table_) {
            print_error(fmt::format("{}: error: {}; the table is lost\n", launch_.program, error.what()));
        }
        lost_table_ = true;
    }
}

/// A full disk must not cost a measurement: what cannot be saved is printed.
void Reporter::write(std::string const& line) {
    if (writer_) {
        try {
            writer_->append(line);
            return;
        } catch (OutputError const& error) {
            print_error(
                fmt::format("{}: error: {}; the lines that are not saved follow on standard output as DLMB-UNSAVED\n",
                            launch_.program, error.what()));
            writer_->print_removed_lines(STDOUT_FILENO, unsaved);
            writer_.reset();
            lost_output_ = true;
        }
    }
    if (lost_output_) {
        say(fmt::format("{}{}\n", unsaved, line));
    }
}

int Reporter::exit_code() const {
    auto const count = [&](char const* status) {
        auto const found = counts_.find(status);
        return found == counts_.end() ? std::uint64_t{0} : found->second;
    };
    if (lost_output_) {
        return exit_output;
    }
    if (count("failed") + count("timeout") + count("invalid") > 0) {
        return exit_cell_failed;
    }
    return count("ok") + resumed_ > 0 ? exit_ok : exit_nothing_ran;
}

int Reporter::finish() {
    measure::HeldSignals const held;
    progress_.clear();
    if (speaks_) {
        int const before = exit_code();
        write(record::to_json_line(record::End{launch_.launch_id,
                                               before == exit_ok            ? "ok"
                                               : before == exit_nothing_ran ? "skipped"
                                                                            : "failed",
                                               counts_, summary_.self_comparison()}));
        int const code = exit_code();  // the end line may be the first that cannot be saved
        std::string summary;
        for (auto const& [status, count] : counts_) {
            summary += fmt::format(", {} {}", count, status);
        }
        if (resumed_ > 0) {
            summary += fmt::format(", {} already in the results file", resumed_);
        }
        if (resumed_unchecked_ > 0) {
            summary += fmt::format(", {} of these unchecked", resumed_unchecked_);
        }
        bool const all_checked = summary_.all_checked() && resumed_unchecked_ == 0;
        std::string_view const verdict = code == exit_nothing_ran ? "SKIPPED"
                                         : code != exit_ok        ? "FAIL"
                                         : all_checked            ? "PASS"
                                                                  : "UNCHECKED";
        say(fmt::format("{}{}# cells: {}\n{}{}DLMB_RESULT: {}\n", table_->footer(), summary_.text(),
                        summary.empty() ? "none" : summary.substr(2), figures_, mark_, verdict));
    }
    return lost_table_ ? static_cast<int>(exit_output) : exit_code();
}

}  // namespace dlmb::run
