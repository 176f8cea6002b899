// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/reporter.hpp"

#include "common/app/derived_figures.hpp"
#include "common/app/fixed_text.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/measure/statistics/order_statistics.hpp"
#include "common/record/json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <unistd.h>

namespace dlmb::app {
namespace {

// One cell in so many: in a few cells of many the order in which ranks come looks like a delay.
constexpr std::uint64_t suspicions_told = 10;

// One page in so many: the kernel puts single ones elsewhere when a node is nearly full, which changes no figure.
constexpr std::uint64_t pages_told = 10;

bool lies_elsewhere(std::optional<record::HostPages> const& pages) {
    return pages && pages->where.elsewhere > 0 && pages->where.elsewhere * pages_told >= pages->where.sampled;
}

}  // namespace

void LaunchSummary::add(record::Record const& cell) {
    if (cell.result.aa_ratio) {
        deviations_.emplace_back(std::abs(*cell.result.aa_ratio - 1), cell.cell_id);
    }
    for (std::string const& flag : cell.result.flags) {
        ++flagged_[flag];
    }
    if (cell.result.status == measure::Status::ok) {
        ++ok_cells_;
        bool const checked = cell.result.validation.verdict == measure::Verdict::passed;
        unchecked_ += checked ? 0U : 1U;
        timed_ += checked ? cell.result.time.samples * cell.result.iterations_per_sample : 0U;
        timed_checked_ += cell.result.validation.timed_checked.value_or(0);
    }
    for (measure::Suspect const& suspect : cell.result.suspects) {
        ++suspected_[fmt::format("rank {} is {}", suspect.rank, name_of(suspect.kind))];
    }
    below_floor_ += cell.result.below_floor.value_or(false) ? 1U : 0U;
    throttled_ += cell.result.throttled.value_or(false) ? 1U : 0U;
    memory_elsewhere_ += lies_elsewhere(cell.host_pages) ? 1U : 0U;
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
    return record::SelfComparison{values.size(), measure::median(values), largest, id};
}

std::string LaunchSummary::text() const {
    std::string text;
    if (ok_cells_ > unchecked_) {
        text += fmt::format("# payload checked before and after the timing, and in {} of {} timed iterations\n",
                            timed_checked_, timed_);
    }
    if (unchecked_ > 0) {
        text += fmt::format("# no byte checked: {} cells\n", unchecked_);
    }
    if (auto const compared = self_comparison()) {
        text +=
            fmt::format("# compared with themselves (odd against even rounds), {} cells differ by {:.1f} %, at most "
                        "{:.1f} %\n",
                        compared->cells, 100 * compared->median, 100 * compared->largest);
    }
    for (auto const& [flag, cells] : flagged_) {
        text += fmt::format("# flagged {}: {} cells\n", flag, cells);
    }
    for (auto const& [suspicion, cells] : suspected_) {
        if (cells * suspicions_told >= ok_cells_) {
            text += fmt::format("# {}: {} of {} cells\n", suspicion, cells, ok_cells_);
        }
    }
    if (below_floor_ > 0) {
        text += fmt::format("# too short for the clock to be compared: {} cells\n", below_floor_);
    }
    if (throttled_ > 0) {
        text += fmt::format("# throttled (clocks of a GPU held down, or a quota of processor time used up): {} cells\n",
                            throttled_);
    }
    if (memory_elsewhere_ > 0) {
        text += fmt::format("# buffers on another NUMA node than their rank: {} cells\n", memory_elsewhere_);
    }
    return text;
}

namespace {

constexpr std::string_view unsaved = "DLMB-UNSAVED ";
constexpr std::string_view erase_line = "\r\x1b[K";

}  // namespace

Progress::Progress(bool speaks) : active_(speaks && isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::string_view text) {
    if (active_) {
        print_error(fmt::format("{}{}", erase_line, text));
        shown_ = true;
    }
}

void Progress::clear() {
    if (shown_) {
        print_error(erase_line);
        shown_ = false;
    }
}

namespace {

std::array<std::string, 2> line_around_reason(std::string const& launch_id, record::Record cell,
                                              measure::Status status) {
    constexpr char reason = '\x7f';  // a character that JSON leaves as it is, and that no name has
    cell.result.status = status;
    cell.result.reason = std::string(1, reason);
    std::string const line = record::to_json_line(launch_id, cell);
    std::size_t const at = line.rfind(reason);
    return {line.substr(0, at), line.substr(at + 1) + '\n'};
}

}  // namespace

Reporter::Reporter(Options const& options, PatternType const& type, record::Launch launch, bool speaks)
    : launch_(std::move(launch)), speaks_(speaks), table_(make_table(options)),
      prints_figures_(options.figures || isatty(STDOUT_FILENO) == 0), progress_(speaks) {
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
    if (!writer_) {
        return;
    }
    PreparedLines lines{cell.cell_id, line_around_reason(launch_.launch_id, cell, measure::Status::timeout),
                        line_around_reason(launch_.launch_id, cell, measure::Status::failed)};
    measure::HeldSignals const held;
    expected_[name] = std::move(lines);
}

void Reporter::cell(record::Record const& cell, std::string_view title) {
    measure::HeldSignals const held;  // a cell has one end
    std::erase_if(expected_, [&](auto const& entry) { return entry.second.cell_id == cell.cell_id; });
    ++counts_[std::string(measure::name_of(cell.result.status))];
    if (!speaks_) {
        return;
    }
    summary_.add(cell);
    write(record::to_json_line(launch_.launch_id, cell));
    saved_ok_ += writer_ && cell.result.status == measure::Status::ok ? 1U : 0U;
    table_->add(cell, title);
    if (prints_figures_) {
        figures_ += figure_of_merit(cell);
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
    say(fmt::format("# {} {} {} {}: {}", title, cell.identity.backend, cell.identity.method, cell.identity.memory,
                    line.substr(2)));
}

void Reporter::resumed(record::Record const* cell) {
    ++resumed_;
    resumed_unchecked_ += cell != nullptr && cell->result.validation.verdict != measure::Verdict::passed ? 1U : 0U;
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
    if (writer_) {
        if (auto const found = expected_.find(report.cell); found != expected_.end()) {
            auto const& [head, tail] = report.signal == 0 ? found->second.of_timeout : found->second.of_failure;
            FixedText reason;
            reason.add_json(what.view());
            std::array<std::string_view, 3> const line{head, reason.view(), tail};
            if (!writer_->append_in_handler(line)) {
                writer_->print_removed_lines(STDOUT_FILENO, unsaved);
                put(STDOUT_FILENO, unsaved);
                std::for_each(line.begin(), line.end(), [](std::string_view piece) { put(STDOUT_FILENO, piece); });
            }
        }
        said.add("{}: {} cells of the results file are finished; --resume runs the others\n", launch_.program,
                 resumed_ + saved_ok_);
    }
    put(STDERR_FILENO, said.view());
}

/// What nobody can read must not cost a measurement either.
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
        bool const passed = exit_code() == exit_ok;
        write(record::to_json_line(
            record::End{launch_.launch_id, passed ? "ok" : "failed", counts_, summary_.self_comparison()}));
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
        std::string_view const verdict = !passed ? "FAIL" : all_checked ? "PASS" : "UNCHECKED";
        say(fmt::format("{}{}# cells: {}\n{}DLMB_RESULT: {}\n", table_->footer(), summary_.text(),
                        summary.empty() ? "none" : summary.substr(2), figures_, verdict));
    }
    return lost_table_ ? static_cast<int>(exit_output) : exit_code();
}

}  // namespace dlmb::app
