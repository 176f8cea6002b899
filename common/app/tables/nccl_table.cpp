// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The columns of nccl-tests 2.19 (src/common.cu): size and count of the buffer, type, redop, root, then time, algbw,
// busbw and #wrong out of place and in place; N/A in the half that was not measured. Time is the median. Then the two
// lines that scripts look for.
#include "common/app/tables/layouts.hpp"
#include "common/base/units.hpp"
#include "common/plan/plan.hpp"

#include <fmt/format.h>

namespace dlmb::app {
namespace {

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
    Bytes const bytes = operation == "reduce_scatter"
                            ? cell.traffic.largest_total_bytes / static_cast<Bytes>(cell.identity.world.ranks)
                            : message_size(cell).value_or(cell.traffic.largest_total_bytes);
    return fmt::format("{}", bytes / size_of(*element));
}

class NcclTable final : public Table {
public:
    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const override {
        constexpr char const* names = "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6} {:>6}  {:>7}  {:>6}  "
                                      "{:>6} {:>6}\n";
        return preamble(launch, pattern) +
               fmt::format("# {:>50}           out-of-place                       in-place\n", "") +
               fmt::format(names, "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time",
                           "algbw", "busbw", "#wrong") +
               fmt::format(names, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)",
                           "(GB/s)", "");
    }

    [[nodiscard]] std::string row(record::Record const& cell, std::string_view title) override {
        if (cell.result.status != measure::Status::ok) {
            invalid_ += cell.result.status == measure::Status::invalid ? 1 : 0;
            return note(cell, title);
        }
        ++rows_;
        busbw_sum_GBps_ += bandwidth(cell.traffic, cell.result.time.median).busbw_GBps;
        std::string const operation = parameter(cell, "operation").value_or("");
        bool const reduces = operation == "allreduce" || operation == "reduce_scatter";
        bool const in_place = parameter(cell, "in-place").value_or("off") == "on";
        std::string const figures = half(cell);
        std::string const none = fmt::format("  {:>7}  {:>6}  {:>6} {:>6}", "N/A", "N/A", "N/A", "N/A");
        return series_.heading(cell, title) +
               fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}\n", cell.traffic.largest_total_bytes,
                           count_text(cell, operation), parameter(cell, "element").value_or("byte"),
                           reduces ? parameter(cell, "reduction").value_or("none") : "none",
                           operation == "broadcast" ? parameter(cell, "root").value_or("-1") : "-1",
                           in_place ? none : figures, in_place ? figures : none);
    }

    [[nodiscard]] std::string footer() const override {
        if (rows_ + invalid_ == 0) {
            return "";
        }
        return fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g}\n#\n", invalid_,
                           invalid_ == 0 ? "OK" : "FAILED", rows_ == 0 ? 0 : busbw_sum_GBps_ / rows_);
    }

private:
    static std::string half(record::Record const& cell) {
        Bandwidth const rate = bandwidth(cell.traffic, cell.result.time.median);
        char const* const wrong = cell.result.validation.verdict == measure::Verdict::passed ? "0" : "N/A";
        return fmt::format("  {:>7}  {:>6.2f}  {:>6.2f} {:>6}",
                           time_text(cell.result.time.median / nanoseconds_per_microsecond), rate.algbw_GBps,
                           rate.busbw_GBps, wrong);
    }

    Series series_;
    int rows_ = 0;
    int invalid_ = 0;  // cells whose payload was wrong
    double busbw_sum_GBps_ = 0;
};

}  // namespace

std::unique_ptr<Table> make_nccl_table() {
    return std::make_unique<NcclTable>();
}

}  // namespace dlmb::app
