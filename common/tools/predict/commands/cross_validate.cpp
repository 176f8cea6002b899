// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict cross-validate MEASUREMENTS --system SYSTEM --max-nodes N: fits on few nodes, predicts the others, and
// prints the error by operation and algorithm. The fit is given no measurement on more than N nodes. What the model
// refuses for its error is scored all the same; names that their times contradict are not.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/base/output_file.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/fit.hpp"
#include "common/tools/predict/lines_to_fit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dlmb::predict::commands {
namespace {

using namespace dlmb::predict;

struct Errors {
    std::vector<double> sizes;  // |predicted / measured - 1|
    int held = 0;               // measurements inside their interval
    bool seen = true;           // the algorithm was fitted

    void add(double error, bool holds) {
        sizes.push_back(error);
        held += holds ? 1 : 0;
    }
    void print(std::string_view what, std::string_view note) const {
        fmt::print("{:<58} {:>5} {:>7.0f} {:>7.0f} {:>9.0f}  {}\n", what, sizes.size(), 100 * quantile(sizes, 0.5),
                   100 * quantile(sizes, 0.9), 100.0 * held / static_cast<double>(sizes.size()), note);
    }
};

struct Answer {
    TableLine const* line;
    Prediction prediction;
};

double measured_us(Answer const& answer) {
    return answer.line->measurement.time_us;
}

/// What it costs to choose an algorithm: the measured time of the chosen one over that of the fastest.
struct Regret {
    std::vector<double> logs;
    double worst = 1;

    void add(double chosen_us, double fastest_us) {
        logs.push_back(std::log(chosen_us / fastest_us));
        worst = std::max(worst, chosen_us / fastest_us);
    }
    void print(std::string_view what) const {
        double const sum = std::accumulate(logs.begin(), logs.end(), 0.0);
        fmt::print("{:<58} {:>5} {:>7.2f} {:>7.2f}\n", what, logs.size(),
                   logs.empty() ? 1 : std::exp(sum / static_cast<double>(logs.size())), worst);
    }
};

class CrossValidate {
public:
    void add_options(CLI::App& parser) {
        parser.add_option("MEASUREMENTS", path_, "table with the columns of the data of PICO (text with commas)")
            ->required();
        parser.add_option("--system", system_, "the system, as the table names it")->required();
        parser.add_option("--max-nodes", max_nodes_, "fit on at most this many nodes, predict the others")
            ->required()
            ->check(CLI::Range(1, 1 << 20));
        parser.add_option("--from-nodes", from_nodes_, "predict only from this many nodes on")
            ->check(CLI::Range(1, 1 << 20));
        parser.add_option("--to-nodes", to_nodes_, "predict up to so many nodes only")->check(CLI::Range(1, 1 << 20));
        parser.add_option("-o,--output", output_, "write the lines that were predicted with their predicted times");
    }

    int run() {
        MeasurementTable const table = read_measurements(read_document(path_), path_, true);
        std::vector<TableLine> few_lines;
        std::vector<TableLine> many;
        for (TableLine const& line : table.lines) {
            int const nodes = line.measurement.topology.nodes();
            if (line.measurement.system != system_) {
                continue;
            }
            if (nodes <= max_nodes_) {
                few_lines.push_back(line);
            } else if (nodes >= from_nodes_ && nodes <= to_nodes_ && line.unusable.empty()) {
                many.push_back(line);
            }
        }
        if (many.empty()) {
            throw UsageError(fmt::format("{}: no measurement of {} on more than {} nodes", path_, system_, max_nodes_));
        }
        LinesToFit const few = lines_to_fit(few_lines);
        LoadCache cache;
        MachineModel const model = fit(few.measurements, {}, cache);
        auto const found = answers(model, many, cache);
        print(model, found);
        print_regret(few.measurements, found);
        print_left_out(model, many.size() - found.size(), found);
        for (std::string const& note : {describe(few.left_out), describe(model.left_out)}) {
            fmt::print("{}{}{}", note.empty() ? "" : "\n", note, note.empty() ? "" : "\n");
        }
        if (!output_.empty()) {
            write(table.header, found);
        }
        return exit_ok;
    }

private:
    /// Asks for every line that was left out, but those of contradicted names.
    [[nodiscard]] static std::vector<Answer> answers(MachineModel model, std::vector<TableLine> const& lines,
                                                     LoadCache& cache) {
        std::vector<Answer> found;
        model.forced = true;
        for (TableLine const& line : lines) {
            if (!refusal_of(model, line.measurement).empty()) {
                continue;
            }
            auto const algorithm = algorithm_of(line.measurement.collective, line.measurement.algorithm);
            found.push_back({&line, predict::predict(model, line.measurement, *algorithm, cache)});
        }
        return found;
    }

    void print(MachineModel const& model, std::vector<Answer> const& answers) const {
        std::map<ImplementationKey, Errors> algorithms;
        std::map<Collective, Errors> collectives;
        Errors all;
        Errors seen;
        for (auto const& [line, prediction] : answers) {
            Measurement const& question = line->measurement;
            ImplementationKey const key{question.collective, question.algorithm};
            double const error = std::abs(prediction.time_us / question.time_us - 1);
            bool const holds = question.time_us >= prediction.low_us && question.time_us <= prediction.high_us;
            bool const fitted = model.best.factors.contains(key);
            algorithms[key].add(error, holds);
            algorithms[key].seen = fitted;
            collectives[question.collective].add(error, holds);
            all.add(error, holds);
            if (fitted) {
                seen.add(error, holds);
            }
        }
        fmt::print("{}: fitted on {} to {} nodes ({} measurements)\n\n", system_, model.fewest_nodes, model.most_nodes,
                   model.points);
        fmt::print("{:<58} {:>5} {:>7} {:>7} {:>9}\n", "", "n", "median%", "p90%", "held%");
        for (auto const& [key, errors] : algorithms) {
            errors.print(fmt::format("{} {}", name_of(key.first), key.second),
                         errors.seen ? "" : "not among the fitted");
        }
        fmt::print("\n");
        for (auto const& [collective, errors] : collectives) {
            errors.print(name_of(collective), "");
        }
        fmt::print("\n");
        all.print("all", "");
        if (!seen.sizes.empty()) {
            seen.print("algorithms that were fitted", "");
        }
    }

    static void print_left_out(MachineModel const& model, std::size_t contradicted,
                               std::vector<Answer> const& answers) {
        auto const too_far_off = std::count_if(answers.begin(), answers.end(), [&](Answer const& answer) {
            return !refusal_of(model, answer.line->measurement).empty();
        });
        fmt::print(
            "\n{} more are of names that their times contradict; {} of those above are refused without --force\n",
            contradicted, too_far_off);
    }

    /// Of the model, and of taking the algorithm that was the fastest on the most nodes that were fitted.
    static void print_regret(std::vector<Measurement> const& fitted, std::vector<Answer> const& answers) {
        std::map<std::string, std::vector<Answer>> cases;
        for (Answer const& answer : answers) {
            Measurement const& asked = answer.line->measurement;
            cases[fmt::format("{} {} {} {} {}", asked.topology.text(), asked.topology.ranks_per_node, asked.job,
                              name_of(asked.collective), asked.bytes)]
                .push_back(answer);
        }
        Regret model;
        Regret apart;
        Regret model_where_both;
        Regret winner;
        for (auto const& each_case : cases) {
            std::vector<Answer> const& candidates = each_case.second;  // clang 14 captures no structured binding
            if (candidates.size() < 2) {
                continue;
            }
            auto const by = [&](auto const& key) {
                return std::min_element(
                    candidates.begin(), candidates.end(),
                    [&](Answer const& left, Answer const& right) { return key(left) < key(right); });
            };
            double const fastest = by(measured_us)->line->measurement.time_us;
            double const chosen =
                by([](Answer const& each) { return each.prediction.time_us; })->line->measurement.time_us;
            model.add(chosen, fastest);
            if (is_apart(candidates)) {
                apart.add(chosen, fastest);
            }
            auto const before = [&](Answer const& each) { return time_before(fitted, each.line->measurement); };
            if (auto const taken = by(before); std::isfinite(before(*taken))) {
                winner.add(taken->line->measurement.time_us, fastest);
                model_where_both.add(chosen, fastest);
            }
        }
        fmt::print("\n{:<58} {:>5} {:>7} {:>7}\n", "algorithm chosen by", "cases", "x best", "worst");
        model.print("the model");
        apart.print("the model, where intervals are apart");
        model_where_both.print("the model, where the next line has a choice");
        winner.print("the winner on the most nodes that were fitted");
    }

    /// The interval of the fastest is below all others.
    static bool is_apart(std::vector<Answer> const& candidates) {
        auto const best =
            std::min_element(candidates.begin(), candidates.end(), [](Answer const& left, Answer const& right) {
                return left.prediction.time_us < right.prediction.time_us;
            });
        return std::all_of(candidates.begin(), candidates.end(), [&](Answer const& each) {
            return each.line == best->line || each.prediction.low_us > best->prediction.high_us;
        });
    }

    /// The time of the same algorithm and size on the most nodes that were fitted; infinite: none.
    static double time_before(std::vector<Measurement> const& fitted, Measurement const& asked) {
        double time_us = std::numeric_limits<double>::infinity();
        int nodes = 0;
        for (Measurement const& each : fitted) {
            if (each.collective == asked.collective && each.algorithm == asked.algorithm && each.bytes == asked.bytes &&
                each.topology.nodes() > nodes) {
                nodes = each.topology.nodes();
                time_us = each.time_us;
            }
        }
        return time_us;
    }

    void write(std::string_view header, std::vector<Answer> const& answers) const {
        std::string text = fmt::format("{},predicted_us,low_us,high_us,status\n", header);
        for (auto const& [line, prediction] : answers) {
            text += fmt::format("{},{:.6g},{:.6g},{:.6g},ok\n", line->text, prediction.time_us, prediction.low_us,
                                prediction.high_us);
        }
        write_output(output_, text);
    }

    std::string path_;
    std::string system_;
    std::string output_;
    int max_nodes_ = 0;
    int from_nodes_ = 0;
    int to_nodes_ = 1 << 20;
};

}  // namespace

void add_cross_validate(CLI::App& program, int& exit_code) {
    add_command<CrossValidate>(program, "cross-validate", "Fit on few nodes, predict the others, print the errors",
                               exit_code);
}

}  // namespace dlmb::predict::commands
