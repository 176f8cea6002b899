// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict points --model MODEL POINTS -o PREDICTED: each line of a table with its predicted time.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/base/output_file.hpp"
#include "common/tools/predict/commands/model_option.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/measurements.hpp"
#include "common/tools/predict/pricing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb::predict::commands {
namespace {

/// Range of the answered points, for a comparison with that of the fit.
struct Asked {
    std::set<int> nodes;
    std::set<double> sizes;
    std::set<OperationKind> collectives;

    [[nodiscard]] std::string notes(MachineModel const& model) const {
        if (nodes.empty()) {
            return "";
        }
        std::string text = extrapolation_note(model, *nodes.rbegin());
        auto const note = [&text]<class... Values>(fmt::format_string<Values...> format, Values&&... values) {
            text += "dlmb_predict: note: " + fmt::format(format, std::forward<Values>(values)...) + "\n";
        };
        if (*nodes.begin() < model.fewest_nodes) {
            note("extrapolated from {} down to {} nodes", model.fewest_nodes, *nodes.begin());
        }
        if (*sizes.rbegin() > model.most_bytes || *sizes.begin() < model.fewest_bytes) {
            note("sizes of {:.0f} to {:.0f} bytes were asked for, and {:.0f} to {:.0f} were fitted", *sizes.begin(),
                 *sizes.rbegin(), model.fewest_bytes, model.most_bytes);
        }
        for (OperationKind const collective : collectives) {
            auto const error = model.held_out.find(collective);
            if (error != model.held_out.end()) {
                note("{}: {} measurements on more than {} nodes were predicted from fewer with a median error of "
                     "{:.0f} %, 90 % below {:.0f} %",
                     name_in_tables(collective), error->second.points, model.held_out_above, 100 * error->second.median,
                     100 * error->second.p90);
            } else if (*nodes.rbegin() > model.most_nodes) {
                note("{}: the error on more nodes is not known, because no node count could be left out",
                     name_in_tables(collective));
            }
        }
        return text;
    }
};

class Points {
public:
    void add_options(CLI::App& parser) {
        parser.add_option("POINTS", path_, "table with the columns system, nodes, collective, algorithm, bytes")
            ->required();
        model_.add_to(parser, "--model", "machine model of dlmb_predict fit")->required();
        parser
            .add_option("-o,--output", output_,
                        "the same table with predicted_us,low_us,high_us,status,chosen; - prints it")
            ->required();
    }

    int run() {
        MachineModel const model = model_.read();
        MeasurementTable const table = read_measurements(read_document(path_), path_, false);
        std::vector<std::string> texts;
        Cases cases;
        LoadCache cache;
        int answered = 0;
        int refused = 0;
        Asked asked;
        for (TableLine const& line : table.lines) {
            std::string& text = texts.emplace_back(line.text);
            Measurement const& question = line.measurement;
            Answer const found = line.unusable.empty() ? answer(model, question, cache) : Answer{};
            if (!found.prediction) {
                std::string const why_not = line.unusable.empty() ? "refused: " + found.refusal : line.unusable;
                text += fmt::format(",,,,{}", cell(why_not));
                refused += why_not.starts_with("refused") ? 1 : 0;
                continue;
            }
            bool const doubted = !doubt_of(model, question.collective, question.topology.nodes()).empty();
            Prediction const& prediction = *found.prediction;
            text += fmt::format(",{:.6g},{:.6g},{:.6g},{}", prediction.time_us, prediction.low_us, prediction.high_us,
                                doubted                            ? "ok (forced)"
                                : is_extrapolated(model, question) ? "ok (extrapolated)"
                                                                   : "ok");
            asked.nodes.insert(question.topology.nodes());
            asked.sizes.insert(question.bytes);
            asked.collectives.insert(question.collective);
            auto const place = fmt::format("{} {} {} {} {}", question.topology.text(), question.topology.ranks_per_node,
                                           question.job, name_in_tables(question.collective), question.bytes);
            AskedAlgorithm& algorithm = cases[place][question.algorithm];
            algorithm.prediction = prediction;
            algorithm.lines.push_back(texts.size() - 1);
            ++answered;
        }
        std::vector<std::string_view> const chosen = chosen_in(cases, texts.size());
        std::string text = fmt::format("{},predicted_us,low_us,high_us,status,chosen\n", table.header);
        for (std::size_t line = 0; line < texts.size(); ++line) {
            text += fmt::format("{},{}\n", texts[line], chosen[line]);
        }
        write_output(output_, text);
        print_to(printed_beside({output_}),
                 fmt::format("{} of {} lines predicted, {} refused, {} of unknown algorithms\n", answered,
                             table.lines.size(), refused, static_cast<int>(table.lines.size()) - answered - refused));
        print_error(asked.notes(model));
        return answered == 0 && refused > 0 ? exit_unavailable : exit_ok;
    }

private:
    struct AskedAlgorithm {
        Prediction prediction;
        std::vector<std::size_t> lines;  // a table may have several of one algorithm
    };
    /// By name, the algorithms that were asked for in the same case.
    using Cases = std::map<std::string, std::map<std::string, AskedAlgorithm>>;

    /// By line: "yes": the interval is below those of all others; "no": it is above that of such a one; "undecided":
    /// there is none. Empty where nothing was to choose.
    static std::vector<std::string_view> chosen_in(Cases const& cases, std::size_t lines) {
        std::vector<std::string_view> chosen(lines);
        for (auto const& [name, same] : cases) {
            std::vector<Prediction> predictions;
            std::transform(same.begin(), same.end(), std::back_inserter(predictions),
                           [](auto const& each) { return each.second.prediction; });
            Fastest const best = fastest_of(predictions);
            std::size_t place = 0;
            for (auto const& [algorithm, asked] : same) {
                bool const is_best = place++ == best.place;
                for (std::size_t const line : asked.lines) {
                    chosen[line] = same.size() == 1 ? "" : !best.apart ? "undecided" : is_best ? "yes" : "no";
                }
            }
        }
        return chosen;
    }

    /// A text that stays one cell of one line, whatever names stand in it.
    static std::string cell(std::string_view text) {
        std::string line = one_line(text);
        std::replace(line.begin(), line.end(), ',', ';');
        return line;
    }

    std::string path_;
    ModelOption model_;
    std::string output_;
};

}  // namespace

void add_points(CLI::App& program, int& exit_code) {
    add_command<Points>(program, "points", "Predict the time of each line of a table", exit_code);
}

}  // namespace dlmb::predict::commands
