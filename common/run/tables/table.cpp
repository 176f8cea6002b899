// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/digits.hpp"
#include "common/base/units.hpp"
#include "common/formats/plan/traffic.hpp"
#include "common/run/derived_figures.hpp"
#include "common/run/launch_calibration.hpp"
#include "common/run/sweep.hpp"
#include "common/run/tables/layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb::run {

std::string preamble(record::Launch const& launch, std::string_view pattern) {
    return fmt::format("# {} {}: {} ranks, {} per node; launch {}\n", launch.program, pattern, launch.world.ranks,
                       launch.world.ranks_per_node, launch.launch_id) +
           calibration_line(launch.calibration);
}

std::string Table::note(record::Record const& cell, std::string_view title, std::optional<Bytes> size) {
    if (cell.result.status == record::Status::skipped && !reasons_.insert(cell.result.reason).second) {
        ++skipped_likewise_[cell.identity.backend];
        return "";
    }
    return fmt::format("# {}{} {}: {}: {}\n", title, size ? " " + exact_size(*size) : "",
                       record::way_text(cell.identity), name_of(cell.result.status), cell.result.reason);
}

std::string Table::skipped_likewise() const {
    std::vector<std::string> parts;
    for (auto const& [backend, cells] : skipped_likewise_) {
        parts.push_back(fmt::format("{} of {}", counted(cells, "cell"), backend));
    }
    return parts.empty() ? "" : fmt::format("# skipped likewise: {}\n", fmt::join(parts, ", "));
}

namespace {

/// Our own layout: one row per cell, then one per phase where there are several. Widths follow from the content, and
/// what does not fit on a line of a usual terminal is left out or, if it is a label, stands on a line of its own.
class OwnTable final : public Table {
public:
    /// `loads`: whether some cells have one.
    OwnTable(TableColumns columns, bool loads) : columns_(columns), loads_(loads) {
        widths_[load] = loads ? name_of(record::Load::compute).size() : 0;
    }

    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const override {
        return preamble(launch, pattern) + "# time of an iteration over all ranks: median and its 95 % interval\n"
                                           "# bandwidth: 10^9 bytes per second\n";
    }

    void expect(SweepPoint const& point) override { widths_[traffic] = std::max(widths_[traffic], point.title.size()); }

    void add(record::Record const& cell, std::string_view title) override {
        std::size_t const place = place_of(cell.cell_id);
        if (cell.result.status != record::Status::ok) {
            lines_.push_back({place, {}, note(cell, title)});
            return;
        }
        add_line(cell, title, "all", cell.result.time, cell.traffic);
        lines_.back().comment = load_line(cell) + overlap_line(cell) + packing_line(cell) + throttled_line(cell) +
                                bit_patterns_line(cell) + figure_lines(cell);
        for (record::PhaseResult const& timed : cell.result.phases) {
            for (record::PhaseTraffic const& moved : cell.phases) {
                if (moved.label == timed.label && cell.phases.size() > 1) {
                    add_line(cell, title, timed.label, timed.time, moved.traffic);
                }
            }
        }
    }

    [[nodiscard]] std::string ready() override {
        std::stable_sort(lines_.begin(), lines_.end(),
                         [](PrintedLine const& one, PrintedLine const& other) { return one.place < other.place; });
        bool any = false;
        for (PrintedLine const& line : lines_) {
            for (std::size_t column = 0; column < line.cells.size(); ++column) {
                widths_[column] = std::max(widths_[column], line.cells[column].size());
            }
            any = any || !line.cells.empty();
            has_phases_ = has_phases_ || (!line.cells.empty() && line.cells[phase] != "all");
        }
        std::string text;
        if (any) {
            ColumnShape const shape = shape_that_fits();
            if (shape != printed_) {
                printed_ = shape;
                text += line_of(shape, {headings.begin(), headings.end()}, "# ") +
                        line_of(shape, {units.begin(), units.end()}, "# ");
                beside_ = "";
            }
        }
        for (PrintedLine const& line : std::exchange(lines_, {})) {
            text += line.cells.empty() ? "" : beside(line.cells) + line_of(printed_, line.cells, "");
            text += line.comment;
        }
        return text;
    }

    [[nodiscard]] std::string footer() override { return ready() + skipped_likewise(); }

private:
    enum Column : std::size_t {
        traffic,
        memory,
        backend,
        method,
        load,
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
    static constexpr std::array<std::string_view, count> headings{"traffic", "memory",  "backend", "method", "beside",
                                                                  "phase",   "median",  "low",     "high",   "p95",
                                                                  "busbw",   "samples", "bytes",   "check"};
    static constexpr std::array<std::string_view, count> units{"",     "",     "",     "",       "", "",    "[us]",
                                                               "[us]", "[us]", "[us]", "[GB/s]", "", "[B]", ""};

    struct PrintedLine {
        std::size_t place;               // of its cell
        std::vector<std::string> cells;  // empty: only the comment
        std::string comment;             // whole lines behind it
    };
    struct ColumnShape {
        std::array<std::size_t, count> widths{};  // 0: not shown
        bool operator==(ColumnShape const&) const = default;
        [[nodiscard]] std::size_t length() const {
            return std::accumulate(
                widths.begin(), widths.end(), std::size_t{0},
                [](std::size_t sum, std::size_t width) { return sum + width + (width > 0 ? 1 : 0); });
        }
        [[nodiscard]] ColumnShape without(std::initializer_list<Column> columns) const {
            ColumnShape shape = *this;
            for (Column const column : columns) {
                shape.widths[column] = 0;
            }
            return shape;
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

    static std::string load_line(record::Record const& cell) {
        auto const value = [&](std::string_view name) {
            auto const& figures = cell.result.figures;
            auto const found =
                std::find_if(figures.begin(), figures.end(), [&](auto const& figure) { return figure.name == name; });
            return found == figures.end() ? 0 : found->value;
        };
        double const rate = value("load_rate");
        if (!(rate > 0)) {
            return "";
        }
        constexpr double giga = 1e9;
        bool const copies = record::load_of(cell.identity.beside) == record::Load::memory;
        double const slowdown = value("load_slowdown");
        return fmt::format("# the {} beside it: {} {} per rank{}\n", copies ? "copying" : "computing",
                           four_digits(rate / giga), copies ? "GB/s" : "10^9 multiply-adds/s",
                           slowdown > 0 ? fmt::format(", alone {:.2f} times as fast", slowdown) : "");
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

    [[nodiscard]] std::string figure_lines(record::Record const& cell) const {
        std::string text;
        if (columns_ == TableColumns::all) {
            for (record::Figure const& figure : cell.result.figures) {
                text += fmt::format("# {}: {} {}, of its {}\n", figure.name, four_digits(figure.value), figure.unit,
                                    figure.from);
            }
        }
        return text;
    }

    void add_line(record::Record const& cell, std::string_view title, std::string_view label,
                  record::TimeSummary const& time, TrafficSummary const& moved) {
        bool const shares = cell.statistics.count("unchecked_steps") > 0;
        char const* const passed = shares ? "part" : "ok";
        bool const checked = cell.result.validation.verdict == record::Verdict::passed;
        auto const us = [](std::optional<double> ns) { return ns ? human_us(*ns) : std::string("-"); };
        lines_.push_back({place_of(cell.cell_id),
                          {std::string(title), cell.identity.memory, cell.identity.backend, cell.identity.method,
                           loads_ ? record::beside_text(cell.identity.beside) : "", std::string(label), us(time.median),
                           us(time.median_low), us(time.median_high), us(time.p95),
                           four_digits(bandwidth(moved, time.median).busbw_GBps), fmt::format("{}", time.samples),
                           fmt::format("{:.0f}", moved.busiest_rank_bytes), checked ? passed : "off"},
                          ""});
    }

    /// Traffic and memory move to a line of their own before figures are left out; backend and method do where that is
    /// not enough.
    [[nodiscard]] ColumnShape shape_that_fits() const {
        constexpr std::size_t line_length = 80;
        ColumnShape everything{widths_};
        everything.widths[phase] = has_phases_ || columns_ == TableColumns::all ? widths_[phase] : 0;
        auto const with_mark = [](ColumnShape shape) {  // the heading of the first column has "# " before it
            std::size_t const first = first_shown(shape);
            shape.widths[first] = std::max(shape.widths[first], headings[first].size() + 2);
            return shape;
        };
        if (columns_ == TableColumns::all) {
            return with_mark(everything);
        }
        ColumnShape const in_rows = everything.without({traffic, memory});
        ColumnShape const alone = in_rows.without({backend, method});
        for (ColumnShape const& shape :
             {everything, in_rows, in_rows.without({bytes}), in_rows.without({bytes, p95}),
              in_rows.without({bytes, p95, samples}), alone, alone.without({bytes}), alone.without({bytes, p95})}) {
            if (ColumnShape const marked = with_mark(shape); marked.length() <= line_length + 1) {
                return marked;
            }
        }
        return with_mark(alone.without({bytes, p95, samples}));
    }

    static std::size_t first_shown(ColumnShape const& shape) {
        return static_cast<std::size_t>(
            std::find_if(shape.widths.begin(), shape.widths.end(), [](std::size_t width) { return width > 0; }) -
            shape.widths.begin());
    }

    /// "# deepseek-v3 tokens=128, host memory, mpi alltoallv": the labels that have no column, where they change.
    std::string beside(std::vector<std::string> const& cells) {
        std::size_t const first = first_shown(printed_);
        if (first == traffic) {
            return "";
        }
        std::string text = fmt::format("# {}, {} memory", cells[traffic], cells[memory]);
        if (first > backend) {
            text += fmt::format(", {} {}", cells[backend], cells[method]);
        }
        text += '\n';
        return text == beside_ ? "" : beside_ = text;
    }

    static std::string line_of(ColumnShape const& shape, std::vector<std::string> const& cells, std::string_view mark) {
        std::string text;
        for (std::size_t column = 0; column < cells.size(); ++column) {
            if (shape.widths[column] == 0) {
                continue;
            }
            std::string_view const before = text.empty() ? mark : "";
            std::size_t const width = shape.widths[column] - std::min(shape.widths[column], before.size());
            text += before;
            text += column < median ? fmt::format("{:<{}} ", cells[column], width)
                                    : fmt::format("{:>{}} ", cells[column], width);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        return text + '\n';
    }

    TableColumns columns_;
    bool loads_;
    std::vector<PrintedLine> lines_;  // that are not printed yet
    // Times up to ten seconds have room from the start, so that the columns of a sweep stay where they are.
    std::array<std::size_t, count> widths_{7, 6, 7, 6, 0, 5, 7, 7, 7, 7, 6, 7, 9, 5};
    bool has_phases_ = false;
    ColumnShape printed_;
    std::string beside_;
};

}  // namespace

std::unique_ptr<Table> make_table(Options const& options) {
    switch (options.layout) {
    case TableLayout::osu:
        return make_osu_table(options.percentiles);
    case TableLayout::nccl:
        return make_nccl_table(options.host_times);
    case TableLayout::dlmb:
        break;
    }
    return std::make_unique<OwnTable>(options.columns, options.loads != std::vector<std::string>{""});
}

std::string_view mark_of(TableLayout layout) {
    return layout == TableLayout::dlmb ? "" : "# ";
}

std::string figure_of_merit(record::Record const& cell) {
    if (cell.result.status != record::Status::ok) {
        return "";
    }
    return fmt::format("DLMB-FOM {} median {:.3f} us\n", cell.cell_id,
                       cell.result.time.median / nanoseconds_per_microsecond);
}

}  // namespace dlmb::run
