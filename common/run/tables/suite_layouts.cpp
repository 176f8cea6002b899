// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The layouts of OSU Micro-Benchmarks and nccl-tests.
#include "common/base/statistics/order_statistics.hpp"
#include "common/base/units.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/run/sweep.hpp"
#include "common/run/tables/layouts.hpp"
#include "patterns/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb::run {
namespace {

/// Nothing where the pattern has no parameter of that name.
std::optional<std::string> parameter(record::Record const& cell, std::string_view name) {
    auto const found = cell.identity.parameters.find(std::string(name));
    return found == cell.identity.parameters.end() ? std::nullopt : std::optional(found->second);
}

/// The message size as -m counts it.
std::optional<Bytes> message_size(record::Record const& cell) {
    auto const text = parameter(cell, "message-size");
    return text ? std::optional(parse_bytes(*text, "message-size")) : std::nullopt;
}

/// Layouts of the suites: cells that differ only in their message size are one table, by rising size. Cells take turns,
/// so the rows of other backends and methods wait until the sizes of the first are through.
class TableOfSeries : public Table {
public:
    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const final {
        return preamble(launch, pattern);
    }
    void add(record::Record const& cell, std::string_view title) final {
        auto const size = message_size(cell);
        if (size && title.ends_with(exact_size(*size))) {
            title.remove_suffix(exact_size(*size).size());
            title = title.substr(0, title.find_last_not_of(' ') + 1);
        }
        last_title_ = name_of_series(title);
        std::string const& load = cell.identity.beside;
        std::string heading = fmt::format("# {}{}{}/{} {}{}{}\n", last_title_, last_title_.empty() ? "" : " ",
                                          cell.identity.backend, cell.identity.method, cell.identity.memory,
                                          load.empty() ? "" : " beside " + load, definition(cell));
        auto found = std::find_if(series_.begin(), series_.end(),
                                  [&](SuiteTable const& each) { return each.heading == heading; });
        if (found == series_.end()) {
            found = series_.insert(found, {last_title_, std::move(heading), "", {}, "", place_of(cell.cell_id)});
        }
        found->place = std::min(found->place, place_of(cell.cell_id));
        if (cell.result.status == record::Status::ok) {
            found->columns = found->columns.empty() ? columns(cell) : found->columns;
            take(found->rows, size.value_or(0), row(cell));
        } else {
            found->notes += note(cell, title, size);
            failed(cell);
        }
    }
    /// The first series of a title goes on; those of the titles before are complete.
    [[nodiscard]] std::string ready() final {
        sort_series();
        std::string text;
        bool first = true;
        for (SuiteTable& each : series_) {
            bool const goes_on = each.title == last_title_;
            if (!goes_on || first) {
                text += print(each, goes_on);
            }
            first = first && !goes_on;
        }
        return text;
    }
    [[nodiscard]] std::string footer() final {
        sort_series();
        std::string text;
        for (SuiteTable& each : series_) {
            text += print(each, false);
        }
        return text + skipped_likewise() + totals();
    }

protected:
    /// Out of place and in place are one row of nccl-tests; rows of OSU are words alone.
    struct SuiteRow {
        std::string words;
        std::string figures = {};
        std::string in_place = {};
        bool waits = false;  // for its other half
    };

    /// Column names of the series that the cell, which is ok, begins.
    [[nodiscard]] virtual std::string columns(record::Record const& cell) const = 0;
    /// The row of a cell that is ok.
    [[nodiscard]] virtual SuiteRow row(record::Record const& cell) = 0;
    [[nodiscard]] virtual std::string line(SuiteRow const& row) const { return row.words + '\n'; }
    [[nodiscard]] virtual std::string name_of_series(std::string_view title) const { return std::string(title); }
    /// Behind the heading: what the times of the series are.
    [[nodiscard]] virtual std::string definition(record::Record const& /*cell*/) const { return ""; }
    virtual void failed(record::Record const& /*cell*/) {}
    [[nodiscard]] virtual std::string totals() const { return ""; }

private:
    using Rows = std::multimap<Bytes, SuiteRow>;
    struct SuiteTable {
        std::string title;  // without size
        std::string heading;
        std::string columns;
        Rows rows;  // that are not printed yet
        std::string notes;
        std::size_t place;  // of its first cell
    };

    void sort_series() {
        std::stable_sort(series_.begin(), series_.end(),
                         [](SuiteTable const& one, SuiteTable const& other) { return one.place < other.place; });
    }

    static void take(Rows& rows, Bytes size, SuiteRow half) {
        auto const [begin, end] = rows.equal_range(size);
        auto const other = std::find_if(begin, end, [&](Rows::value_type const& entry) {
            return entry.second.words == half.words && entry.second.figures.empty() != half.figures.empty();
        });
        if (other == end) {
            rows.emplace(size, std::move(half));
            return;
        }
        other->second.figures += half.figures;
        other->second.in_place += half.in_place;
        other->second.waits = false;
    }

    std::string print(SuiteTable& series, bool goes_on) {
        std::string text = std::exchange(series.notes, "");
        std::string lines;
        for (auto at = series.rows.begin(); at != series.rows.end();) {
            bool const stays = goes_on && at->second.waits;
            lines += stays ? "" : line(at->second);
            at = stays ? std::next(at) : series.rows.erase(at);
        }
        if (!lines.empty() && open_ != series.heading) {
            open_ = series.heading;
            text += series.heading + series.columns;
        }
        return text + lines;
    }

    std::vector<SuiteTable> series_;
    std::string last_title_;
    std::string open_;  // the heading that rows stand under
};

/// The columns of OSU Micro-Benchmarks 7 where they are not those of a latency: osu_bw and osu_bibw, osu_mbw_mr, and
/// the non-blocking collectives.
struct OsuColumns {
    std::string names;   // a whole line
    std::string values;  // without its end
};

/// Figures of an ok cell with a mean: bandwidth in 10^6 B/s, messages per second over all pairs, times in us, and
/// overlap in per cent, max(0, 1 - (overall - compute) / pure communication), of which the last is a median. Nothing
/// where the cell has the columns of a latency.
std::optional<OsuColumns> osu_columns(record::Record const& cell, Bytes size) {
    auto const statistic = [&](char const* name) {
        auto const found = cell.statistics.find(name);
        return found == cell.statistics.end() ? 0 : found->second;
    };
    double const mean_ns = cell.result.rank_means ? cell.result.rank_means->mean : cell.result.time.mean;
    double const overall_us = mean_ns / nanoseconds_per_microsecond;
    double const compute_us = statistic("compute_us");
    double const communication_us = statistic("communication_us");
    if (communication_us > 0) {
        double const overlap = std::max(0.0, 1 - (overall_us - compute_us) / communication_us);
        return OsuColumns{fmt::format("{:<10}{:>20}{:>20}{:>20}{:>20}\n", "# Size", "Overall(us)", "Compute(us)",
                                      "Pure Comm.(us)", "Overlap(%)"),
                          fmt::format("{:<10}{:>20.2f}{:>20.2f}{:>20.2f}{:>20.2f}", size, overall_us, compute_us,
                                      communication_us, 100 * overlap)};
    }
    double const messages = statistic(window_messages);
    if (!(messages > 0) || compute_us > 0 || !(overall_us > 0)) {
        return std::nullopt;
    }
    double const per_us = messages / overall_us;
    double const mb_per_s = per_us * static_cast<double>(size);  // a byte per us is 10^6 per s
    if (parameter(cell, "operation") != "message_rate") {
        return OsuColumns{fmt::format("{:<10}{:>20}\n", "# Size", "Bandwidth (MB/s)"),
                          fmt::format("{:<10}{:>20.2f}", size, mb_per_s)};
    }
    return OsuColumns{fmt::format("{:<10}{:>20}{:>20}\n", "# Size", "MB/s", "Messages/s"),
                      fmt::format("{:<10}{:>20.2f}{:>20.2f}", size, mb_per_s, 1e6 * per_us)};
}

/// The columns of OSU Micro-Benchmarks 7 with full statistics (-f): size left in 10, times right in 20 with two
/// decimals, iterations in 12; then percentiles. With --timing osu and nccl average and extremes are over ranks, of
/// each rank's mean, as there; else over samples, each over all ranks.
class OsuTable final : public TableOfSeries {
public:
    explicit OsuTable(std::vector<std::uint64_t> percentiles) : percentiles_(std::move(percentiles)) {}

private:
    [[nodiscard]] std::string columns(record::Record const& cell) const override {
        if (auto const own = osu_columns(cell, 0)) {
            return own->names;
        }
        std::string text = fmt::format("{:<10}{:>20}{:>20}{:>20}{:>12}", "# Size", "Avg Latency(us)", "Min Latency(us)",
                                       "Max Latency(us)", "Iterations");
        for (std::uint64_t const percentile : percentiles_) {
            text += fmt::format("{:>20}", fmt::format("P{} Tail Lat(us)", percentile));
        }
        return text + '\n';
    }

    /// The size is the message size; of traffic that has none, the busiest rank's bytes.
    [[nodiscard]] SuiteRow row(record::Record const& cell) override {
        if (auto const own = osu_columns(cell, message_size(cell).value_or(0))) {
            return {own->values};
        }
        record::TimeSummary const& time = cell.result.time;
        auto const shown = cell.result.rank_means.value_or(record::RankMeans{time.mean, time.min, time.max});
        auto const us = [](double nanoseconds) { return nanoseconds / nanoseconds_per_microsecond; };
        std::string text =
            fmt::format("{:<10}{:>20.2f}{:>20.2f}{:>20.2f}{:>12}",
                        message_size(cell).value_or(static_cast<Bytes>(std::llround(cell.traffic.busiest_rank_bytes))),
                        us(shown.mean), us(shown.min), us(shown.max), time.samples * cell.result.iterations_per_sample);
        std::vector<Nanoseconds> sorted = cell.result.samples_ns;
        std::sort(sorted.begin(), sorted.end());
        for (std::uint64_t const percent : percentiles_) {
            auto const value = statistics::percentile(sorted, percent);
            text += value ? fmt::format("{:>20.2f}", us(static_cast<double>(*value))) : fmt::format("{:>20}", "N/A");
        }
        return {text};
    }
    [[nodiscard]] std::string definition(record::Record const& cell) const override {
        return fmt::format(", --timing {}: over {}", cell.identity.mode,
                           cell.result.rank_means ? "ranks" : "samples of all ranks");
    }

    std::vector<std::uint64_t> percentiles_;
};

/// Four significant digits, as nccl-tests prints times.
std::string time_text(double us) {
    constexpr double no_decimals_from = 10000;
    constexpr double one_decimal_from = 100;
    return fmt::format("{:.{}f}", us, us >= no_decimals_from ? 0 : us >= one_decimal_from ? 1 : 2);
}

/// Elements of the count argument of NCCL's call.
std::string count_text(record::Record const& cell, std::string_view operation) {
    auto const element = element_named(parameter(cell, "element").value_or("byte"));
    if (!element) {
        return "N/A";
    }
    Bytes const bytes = operation.starts_with("reduce_scatter")
                            ? cell.traffic.largest_total_bytes / static_cast<Bytes>(cell.identity.world.ranks)
                            : message_size(cell).value_or(cell.traffic.largest_total_bytes);
    return fmt::format("{}", bytes / size_of(*element));
}

/// The columns of nccl-tests 2.19 (src/common.cu): size and count of the buffer, type, redop, root, then time, algbw,
/// busbw and #wrong out of place and in place; N/A in the half that was not measured. Time is the mean over ranks with
/// --timing nccl and osu, else the median; with -C cputime, the host's to queue a call, stands in its place, and
/// bandwidths stay those of the time. Then the two lines that scripts look for.
class NcclTable final : public TableOfSeries {
public:
    explicit NcclTable(bool host_times) : host_times_(host_times) {}
    void expect(SweepPoint const& point) override {
        std::size_t const forms = ++forms_[form_of(point.parameters, name_of(point.memory))];
        joins_ = joins_ || forms > 1;
    }

private:
    /// The common key of both forms of a row.
    static std::string form_of(auto parameters, std::string_view memory) {
        parameters.erase("in-place");
        std::string text(memory);
        for (auto const& [name, value] : parameters) {
            text += fmt::format(" {}={}", name, value);
        }
        return text;
    }
    [[nodiscard]] std::string name_of_series(std::string_view title) const override {
        std::string name(title);
        for (std::string_view const word : {" in-place=on", " in-place=off"}) {
            if (std::size_t const at = name.find(word); joins_ && at != name.npos) {
                name.erase(at, word.size());
            }
        }
        return name;
    }
    [[nodiscard]] std::string columns(record::Record const& /*cell*/) const override {
        constexpr char const* names = "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6} {:>6}  {:>7}  {:>6}  "
                                      "{:>6} {:>6}\n";
        char const* const time = host_times_ ? "cputime" : "time";
        return fmt::format("# {:>50}           out-of-place                       in-place\n", "") +
               fmt::format(names, "size", "count", "type", "redop", "root", time, "algbw", "busbw", "#wrong", time,
                           "algbw", "busbw", "#wrong") +
               fmt::format(names, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)",
                           "(GB/s)", "");
    }

    void failed(record::Record const& cell) override {
        invalid_ += cell.result.status == record::Status::invalid ? 1 : 0;
    }

    [[nodiscard]] SuiteRow row(record::Record const& cell) override {
        ++halves_;
        busbw_sum_GBps_ += bandwidth(cell.traffic, time_of(cell)).busbw_GBps;
        std::string const operation = parameter(cell, "operation").value_or("");
        bool const reduces = operation == "allreduce" || operation.starts_with("reduce");
        bool const rooted = operation == "broadcast" || operation == "reduce" || operation.starts_with("gather") ||
                            operation.starts_with("scatter");
        bool const in_place = parameter(cell, "in-place").value_or("off") == "on";
        auto const forms = forms_.find(form_of(cell.identity.parameters, cell.identity.memory));
        // The size counts the part of the rank itself, which a hypercube does not send.
        bool const hypercube = parameter(cell, "route") == "hypercube";
        Bytes const size = hypercube ? message_size(cell).value_or(0) * static_cast<Bytes>(cell.identity.world.ranks)
                                     : cell.traffic.largest_total_bytes;
        SuiteRow row{fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", size, count_text(cell, operation),
                                 parameter(cell, "element").value_or("byte"),
                                 reduces ? parameter(cell, "reduction").value_or("none") : "none",
                                 rooted ? parameter(cell, "root").value_or("-1") : "-1")};
        (in_place ? row.in_place : row.figures) = half(cell);
        row.waits = forms != forms_.end() && forms->second > 1;
        return row;
    }

    [[nodiscard]] std::string line(SuiteRow const& row) const override {
        std::string const none = fmt::format("  {:>7}  {:>6}  {:>6} {:>6}", "N/A", "N/A", "N/A", "N/A");
        return row.words + (row.figures.empty() ? none : row.figures) + (row.in_place.empty() ? none : row.in_place) +
               '\n';
    }

    [[nodiscard]] std::string totals() const override {
        if (halves_ + invalid_ == 0) {
            return "";
        }
        return fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g}\n#\n", invalid_,
                           invalid_ == 0 ? "OK" : "FAILED", halves_ == 0 ? 0 : busbw_sum_GBps_ / halves_);
    }

    static double time_of(record::Record const& cell) {
        return cell.result.rank_means ? cell.result.rank_means->mean : cell.result.time.median;
    }
    [[nodiscard]] std::string half(record::Record const& cell) const {
        Bandwidth const rate = bandwidth(cell.traffic, time_of(cell));
        char const* const wrong = cell.result.validation.verdict == record::Verdict::passed ? "0" : "N/A";
        std::string shown = time_text(time_of(cell) / nanoseconds_per_microsecond);
        if (host_times_) {
            shown =
                cell.result.queueing ? time_text(cell.result.queueing->host_ns / nanoseconds_per_microsecond) : "N/A";
        }
        return fmt::format("  {:>7}  {:>6.2f}  {:>6.2f} {:>6}", shown, rate.algbw_GBps, rate.busbw_GBps, wrong);
    }

    std::map<std::string, std::size_t> forms_;  // 2: out of place and in place are measured
    bool joins_ = false;
    bool host_times_;
    int halves_ = 0;
    int invalid_ = 0;  // cells whose payload was wrong
    double busbw_sum_GBps_ = 0;
};

}  // namespace

std::unique_ptr<Table> make_osu_table(std::vector<std::uint64_t> percentiles) {
    return std::make_unique<OsuTable>(std::move(percentiles));
}

std::unique_ptr<Table> make_nccl_table(bool host_times) {
    return std::make_unique<NcclTable>(host_times);
}

}  // namespace dlmb::run
