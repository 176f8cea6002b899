// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// time_to_answer [--max SIZE] [--time-limit SECONDS]
//
// Seconds until the median of a cell is known to 2 % either way, warm-up and all synchronisation included, against
// 1000 iterations of the same compiled plan with a barrier before each, as OSU's collective programs run by default.
// The loop runs six times, half of them before the cell and half behind it: how far its means are apart is what a
// single loop does not tell. The setting up of the launch's clock is in neither. Not a test: it prints and decides
// nothing.
#include "common/backends/mpi/mpi_backend.hpp"
#include "common/base/clock.hpp"
#include "common/base/error.hpp"
#include "common/measure/runner.hpp"
#include "common/measure/start/common_start.hpp"
#include "common/measure/statistics/order_statistics.hpp"
#include "patterns/collective/collective.hpp"
#include "tests/benchmarks/over_mpi.hpp"
#include "tests/unit/patterns/build_one.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <span>

namespace dlmb::benchmark {
namespace {

struct Arguments {
    Bytes max = Bytes{4} << 20;
    Nanoseconds time_limit_ns = 10'000'000'000;  // of a cell
};

Arguments read(std::span<char*> words) {
    Arguments arguments;
    for (std::size_t i = 1; i < words.size(); i += 2) {
        std::string_view const word = words[i];
        if (i + 1 < words.size() && word == "--max") {
            arguments.max = parse_bytes(words[i + 1], "--max");
        } else if (i + 1 < words.size() && word == "--time-limit") {
            arguments.time_limit_ns = static_cast<Nanoseconds>(std::stod(words[i + 1]) * 1e9);
        } else {
            throw UsageError(fmt::format("{}: expected --max SIZE or --time-limit SECONDS", word));
        }
    }
    return arguments;
}

double seconds_since(Nanoseconds start) {
    return static_cast<double>(now_ns() - start) / 1e9;
}

class Comparison {
public:
    Comparison(Bootstrap& bootstrap, Arguments const& arguments)
        : bootstrap_(bootstrap), backend_(mpi::make_backend({bootstrap}).value()),
          start_(bootstrap, measure::StartRequest::automatic),
          watchdog_([&bootstrap](measure::HangReport const&) { bootstrap.abort(1); }), max_(arguments.max) {
        options_.time_limit_ns = arguments.time_limit_ns;
        options_.validate = false;
        options_.cache = measure::CacheMode::warm;
    }

    void run() {
        print(fmt::format("{:<10} {:>9} {:>12} {:>7} {:>8} {:>10} {:>10} {:>10} {:>7} {:>8}\n", "operation", "size (B)",
                          "median (us)", "+- (%)", "samples", "stop", "answer (s)", "loop (s)", "+- (%)", "ratio"));
        for (char const* operation : {"allreduce", "allgather", "alltoallv"}) {
            for (Bytes const bytes : {Bytes{8}, Bytes{64} << 10, Bytes{4} << 20}) {
                if (bytes <= max_) {
                    add(operation, bytes);
                }
            }
        }
        print(fmt::format("{} of {} cells were known to 2 %\n", precise_, cells_));
    }

private:
    void add(char const* operation, Bytes bytes) {
        PatternType const& type = collective::type();
        Parameters const parameters{{"operation", operation}, {"message-size", fmt::format("{}", bytes)}};
        WorldShape const world{bootstrap_.size(), bootstrap_.size()};
        Plan const plan = build_one(*type.make(resolve(type, "", parameters), world), bootstrap_.rank(), {});
        std::string why_not;
        auto const space = make_memory_space(MemoryKind::host, why_not);
        measure::PreparedPoint point(bootstrap_, *space, {plan}, {.fill = measure::Fill::zeros});
        measure::Cell cell;
        cell.name = operation;
        cell.backend = backend_.get();
        cell.point = &point;
        if (std::string const refusal = cell.compile(bootstrap_); !refusal.empty()) {
            throw Error(refusal);
        }

        std::vector<double> loops;
        auto const run_loops = [&] {
            constexpr int half = 3;  // fewer than six have no 95 % interval
            for (int i = 0; i < half; ++i) {
                loops.push_back(loop_s(*cell.positions[0]));
            }
        };
        loop_s(*cell.positions[0]);  // memory is touched for the first time
        run_loops();
        measure::CellResult result;
        bootstrap_.barrier();
        Nanoseconds const begin = now_ns();
        measure::run_cells({bootstrap_, start_, watchdog_, options_}, std::span(&cell, 1),
                           [&result](measure::Cell const&, measure::CellResult const& each) { result = each; });
        double const answer_s = seconds_since(begin);
        run_loops();
        report(operation, bytes, result, answer_s, loops);
        backend_->quiesce();
    }

    double loop_s(CompiledPlan& plan) const {
        constexpr int iterations = 1000;
        bootstrap_.barrier();
        Nanoseconds const begin = now_ns();
        for (int i = 0; i < iterations; ++i) {
            bootstrap_.barrier();
            plan.launch();
            plan.finish();
        }
        return seconds_since(begin);
    }

    void report(char const* operation, Bytes bytes, measure::CellResult const& result, double answer_s,
                std::vector<double> const& loops_s) {
        if (bootstrap_.rank() != 0) {
            return;  // only rank 0 has the samples
        }
        ++cells_;
        precise_ += result.stop_reason == "precision" ? 1 : 0;
        double const loop_s = measure::median(loops_s);
        print(fmt::format("{:<10} {:>9} {:>12.3f} {:>7.2f} {:>8} {:>10} {:>10.3f} {:>10.4f} {:>7.2f} {:>8.2f}\n",
                          operation, bytes, result.median_of_rounds_ns / 1000,
                          half_width_percent(result.round_medians_ns), result.time.samples, result.stop_reason,
                          answer_s, loop_s, half_width_percent(loops_s), answer_s / loop_s));
    }

    /// Of the 95 % interval of the median, over the median.
    static double half_width_percent(std::vector<double> const& values) {
        auto const interval = measure::median_interval(values);
        return 50 * (interval.high - interval.low) / measure::median(values);
    }

    void print(std::string const& text) const {
        if (bootstrap_.rank() == 0) {
            fmt::print("{}", text);
            std::fflush(stdout);
        }
    }

    Bootstrap& bootstrap_;
    std::unique_ptr<Backend> backend_;
    measure::CommonStart start_;
    measure::Watchdog watchdog_;
    measure::RunnerOptions options_;
    Bytes max_;
    int cells_ = 0;
    int precise_ = 0;
};

}  // namespace
}  // namespace dlmb::benchmark

int main(int argc, char** argv) {
    return dlmb::benchmark::over_mpi("time_to_answer", argc, argv, [](dlmb::Bootstrap& bootstrap, auto words) {
        auto const arguments = dlmb::benchmark::read(words);
        dlmb::benchmark::Comparison(bootstrap, arguments).run();
    });
}
