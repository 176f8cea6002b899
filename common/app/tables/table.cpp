// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/derived_figures.hpp"
#include "common/app/launch_calibration.hpp"
#include "common/app/sweep.hpp"
#include "common/app/tables/layouts.hpp"
#include "common/base/units.hpp"
#include "common/plan/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb::app {

std::string preamble(record::Launch const& launch, std::string_view pattern) {
    return fmt::format("# {} {}: {} ranks, {} per node; launch {}\n", launch.program, pattern, launch.world.ranks,
                       launch.world.ranks_per_node, launch.launch_id) +
           calibration_line(launch.calibration);
}

std::string note(record::Record const& cell, std::string_view title, std::optional<Bytes> size) {
    return fmt::format("# {}{} {} {} {}: {}: {}\n", title, size ? " " + exact_size(*size) : "", cell.identity.backend,
                       cell.identity.method, cell.identity.memory, measure::name_of(cell.result.status),
                       cell.result.reason);
}

namespace {

/// Our own layout: one row per cell, then one per phase where there are several. Widths follow from the content, and
/// what does not fit on a line of a usual terminal is left out or, if it is a label, stands on a line of its own.
class OwnTable final : public Table {
public:
    explicit OwnTable(Columns columns) : columns_(columns) {}

    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const override {
        return preamble(launch, pattern) +
               "# time: over all ranks per iteration, median with its 95 % interval; bandwidth in 10^9 B/s\n";
    }

    void expect(SweepPoint const& point) override { widths_[traffic] = std::max(widths_[traffic], point.title.size()); }

    void add(record::Record const& cell, std::string_view title) override {
        if (cell.result.status != measure::Status::ok) {
            lines_.push_back({{}, note(cell, title)});
            return;
        }
        add_line(cell, title, "all", cell.result.time, cell.traffic);
        lines_.back().comment =
            overlap_line(cell) + packing_line(cell) + throttled_line(cell) + bit_patterns_line(cell);
        for (measure::PhaseResult const& timed : cell.result.phases) {
            for (record::PhaseTraffic const& moved : cell.phases) {
                if (moved.label == timed.label && cell.result.phases.size() > 1) {
                    add_line(cell, title, timed.label, timed.time, moved.traffic);
                }
            }
        }
    }

    [[nodiscard]] std::string ready() override {
        bool any = false;
        for (Line const& line : lines_) {
            for (std::size_t column = 0; column < line.cells.size(); ++column) {
                widths_[column] = std::max(widths_[column], line.cells[column].size());
            }
            any = any || !line.cells.empty();
            has_phases_ = has_phases_ || (!line.cells.empty() && line.cells[phase] != "all");
        }
        std::string text;
        if (any) {
            Shape const shape = shape_that_fits();
            if (shape != printed_) {
                printed_ = shape;
                std::vector<std::string> const names(std::begin(headings), std::end(headings));
                text += line_of(shape, names, "# ");
                beside_ = "";
            }
        }
        for (Line const& line : std::exchange(lines_, {})) {
            text += line.cells.empty() ? "" : beside(line.cells) + line_of(printed_, line.cells, "");
            text += line.comment;
        }
        return text;
    }

    [[nodiscard]] std::string footer() override { return ready(); }

private:
    enum Column : std::size_t {
        traffic,
        backend,
        method,
        memory,
        phase,
        median,
        low,
        high,
        p95,
        busbw,
        samples,
        bytes,
        check,
        count
    };
    static constexpr std::array<std::string_view, count> headings{
        "traffic",   "backend",  "method", "memory",  "phase", "median [us]", "low [us]",
        "high [us]", "p95 [us]", "busbw",  "samples", "bytes", "check"};

    struct Line {
        std::vector<std::string> cells;  // empty: only the comment
        std::string comment;             // whole lines behind it
    };
    struct Shape {
        std::array<std::size_t, count> widths{};  // 0: not shown
        bool operator==(Shape const&) const = default;
        [[nodiscard]] std::size_t length() const {
            return std::accumulate(
                widths.begin(), widths.end(), std::size_t{0},
                [](std::size_t sum, std::size_t width) { return sum + width + (width > 0 ? 1 : 0); });
        }
    };

    static std::string bit_patterns_line(record::Record const& cell) {
        auto const patterns = cell.result.bit_patterns;
        if (!patterns) {
            return "";
        }
        if (*patterns == 0) {
            return "# nothing here adds floating-point numbers, so --reproducible has no bits to compare\n";
        }
        auto const stated = cell.backend_facts.find("bitwise_stable_over");
        auto const iterations = cell.statistics.find("bit_pattern_iterations");
        std::string const in =
            iterations == cell.statistics.end() ? "jittered" : fmt::format("{} jittered", iterations->second);
        return fmt::format("# its sums had {} in {} iterations; stable over, by its method: {}\n",
                           *patterns == 1 ? "the same bits" : fmt::format("{} different bit patterns", *patterns), in,
                           stated == cell.backend_facts.end() ? "not stated" : stated->second);
    }

    static std::string throttled_line(record::Record const& cell) {
        auto const& quota = cell.result.cpu_quota;
        if (quota && quota->throttled > 0) {
            constexpr double per_ms = 1e6;
            return fmt::format(
                "# throttled: the quota of processor time was used up in {} of {} periods, for {:.1f} ms "
                "over all processors; give the container more of it, or start fewer ranks\n",
                quota->throttled, quota->periods, static_cast<double>(quota->throttled_ns) / per_ms);
        }
        return cell.result.throttled.value_or(false)
                   ? "# the clocks of a GPU were held down meanwhile, for its power or temperature\n"
                   : "";
    }

    void add_line(record::Record const& cell, std::string_view title, std::string_view label,
                  measure::TimeSummary const& time, TrafficSummary const& moved) {
        bool const shares = cell.statistics.count("unchecked_steps") > 0;
        char const* const passed = shares ? "part" : "ok";
        bool const checked = cell.result.validation.verdict == measure::Verdict::passed;
        lines_.push_back(
            {{std::string(title), cell.identity.backend, cell.identity.method, cell.identity.memory, std::string(label),
              human_us(time.median), human_us(time.median_low), human_us(time.median_high), human_us(time.p95),
              fmt::format("{:.3f}", bandwidth(moved, time.median).busbw_GBps), fmt::format("{}", time.samples),
              human_bytes(moved.busiest_rank_bytes), checked ? passed : "off"},
             ""});
    }

    /// Labels move to a line of their own before figures are left out, and of these samples go first.
    [[nodiscard]] Shape shape_that_fits() const {
        constexpr std::size_t line_length = 120;
        Shape shape{widths_};
        shape.widths[phase] = has_phases_ || columns_ == Columns::all ? widths_[phase] : 0;
        auto const fits = [&] {
            Shape with_mark = shape;  // the heading of the first column has "# " before it
            std::size_t const first = first_shown(shape);
            with_mark.widths[first] = std::max(with_mark.widths[first], headings[first].size() + 2);
            shape = with_mark;
            return columns_ == Columns::all || shape.length() <= line_length + 1;
        };
        Shape const everything = shape;
        for (std::size_t const labels : {std::size_t{traffic}, std::size_t{backend}, std::size_t{phase}}) {
            for (bool const with_samples : {true, false}) {
                shape = everything;
                std::fill(shape.widths.begin(), shape.widths.begin() + static_cast<std::ptrdiff_t>(labels), 0);
                shape.widths[samples] = with_samples ? everything.widths[samples] : 0;
                if (fits()) {
                    return shape;
                }
            }
        }
        for (Column const less : {bytes, p95}) {
            shape.widths[less] = 0;
        }
        return shape;
    }

    static std::size_t first_shown(Shape const& shape) {
        return static_cast<std::size_t>(
            std::find_if(shape.widths.begin(), shape.widths.end(), [](std::size_t width) { return width > 0; }) -
            shape.widths.begin());
    }

    /// "# deepseek-v3 tokens=128 mpi/alltoallv host": the labels that have no column, where they change.
    std::string beside(std::vector<std::string> const& cells) {
        std::size_t const first = first_shown(printed_);
        if (first == traffic) {
            return "";
        }
        std::string text = "# " + cells[traffic];
        if (first > backend) {
            text += fmt::format(" {}/{} {}", cells[backend], cells[method], cells[memory]);
        }
        text += '\n';
        return text == beside_ ? "" : beside_ = text;
    }

    static std::string line_of(Shape const& shape, std::vector<std::string> const& cells, std::string_view mark) {
        std::string text;
        for (std::size_t column = 0; column < cells.size(); ++column) {
            if (shape.widths[column] == 0) {
                continue;
            }
            std::string const cell = (text.empty() ? std::string(mark) : "") + cells[column];
            text += column < median ? fmt::format("{:<{}} ", cell, shape.widths[column])
                                    : fmt::format("{:>{}} ", cell, shape.widths[column]);
        }
        text.back() = '\n';
        return text;
    }

    Columns columns_;
    std::vector<Line> lines_;  // that are not printed yet
    // Times up to a second have room from the start, so that the columns of a sweep stay where they are.
    std::array<std::size_t, count> widths_{7, 7, 6, 6, 5, 11, 10, 10, 10, 7, 7, 9, 5};
    bool has_phases_ = false;
    Shape printed_;
    std::string beside_;
};

}  // namespace

std::unique_ptr<Table> make_table(Options const& options) {
    switch (options.layout) {
    case Layout::osu:
        return make_osu_table(options.percentiles);
    case Layout::nccl:
        return make_nccl_table(options.host_times);
    case Layout::dlmb:
        break;
    }
    return std::make_unique<OwnTable>(options.columns);
}

std::string figure_of_merit(record::Record const& cell) {
    if (cell.result.status != measure::Status::ok) {
        return "";
    }
    return fmt::format("DLMB-FOM {} median {:.3f} us\n", cell.cell_id,
                       cell.result.time.median / nanoseconds_per_microsecond);
}

}  // namespace dlmb::app
