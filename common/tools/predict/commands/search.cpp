// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict search --layers ... --tokens N --mesh MESH: how to divide the layers of a model, and what it
// communicates.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/number_checks.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/names/names.hpp"
#include "common/base/output_file.hpp"
#include "common/base/units.hpp"
#include "common/formats/model_shape/model_file.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/tools/predict/commands/price_options.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/layouts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

namespace dlmb::predict::commands {
namespace {

using SearchJson = nlohmann::ordered_json;

constexpr double most_extent = 1 << 24;
constexpr int most_mesh_ranks = 1 << 17;
constexpr std::size_t most_layers = 4096;
constexpr std::uint64_t usual_mlp = 4;  // times the hidden size, as GPT has it

/// "4096x16384" as whole numbers.
std::vector<double> extents_of(std::string_view text, std::string_view option, double most) {
    std::vector<double> numbers;
    for (std::string_view const part : split(text, "x")) {
        auto const number = parse_whole<std::uint64_t>(part);
        if (!number || *number < 1 || static_cast<double>(*number) > most) {
            throw UsageError(fmt::format("{} '{}': each part must be a whole number from 1 to {}", option, text, most));
        }
        numbers.push_back(static_cast<double>(*number));
    }
    return numbers;
}

/// The matrix products of a block: of heads x head_dim queries and kv_heads x head_dim keys and as many values; of a
/// gated mlp (LLaMA: RMS norm and a width) gate and up are one product. Embeddings and the head are left out. Throws
/// UsageError that names the file where it does not tell a size, and for a mixture of experts, latent attention and
/// a recommendation model, which are no chain of products.
std::vector<Layer> block_of(ModelShape const& model) {
    if (model.experts > 0 || model.kv_lora > 0 || !model.recommendation.tables.empty()) {
        throw UsageError(fmt::format(
            "{}: {} is no chain of matrix products; give those that are to be divided as INPUTSxOUTPUTS", model.source,
            model.experts > 0   ? "a mixture of experts"
            : model.kv_lora > 0 ? "latent attention"
                                : "a recommendation model"));
    }
    for (auto const& [name, value] :
         {std::pair{"the hidden size", model.hidden}, std::pair{"its layers", model.layers},
          std::pair{"heads", model.heads}, std::pair{"the size of a head", model.head_dim}}) {
        if (value == 0) {
            throw UsageError(
                fmt::format("{}: does not tell {}; give the layers as INPUTSxOUTPUTS", model.source, name));
        }
    }
    bool const gated = model.rms_norm && model.mlp > 0;
    auto const hidden = static_cast<double>(model.hidden);
    auto const queries = static_cast<double>(model.heads * model.head_dim);
    auto const keys = static_cast<double>(model.kv_heads * model.head_dim);
    auto const mlp = static_cast<double>(model.mlp > 0 ? model.mlp : usual_mlp * model.hidden);
    return {{hidden, queries + 2 * keys}, {queries, hidden}, {hidden, gated ? 2 * mlp : mlp}, {mlp, hidden}};
}

/// Collectives of one number of ranks, as sweep file.
std::string sweep_of(std::string const& name, int ranks, std::vector<LayoutMove> const& moves, Element element,
                     std::string const& backend) {
    std::map<OperationKind, std::set<std::uint64_t>> sizes;
    for (LayoutMove const& each : moves) {
        Move const& move = each.move;
        if (move.ranks == ranks) {
            auto const step = static_cast<double>(size_of(element));
            double const size = std::ceil(move.bytes / (size_is_of_a_part(move.operation) ? ranks : 1) / step) * step;
            sizes[move.operation].insert(static_cast<std::uint64_t>(size));
        }
    }
    std::string text =
        fmt::format("name = \"{}\"\nlaunches = 5\n\n[options]\ntime-limit = 1\nbackend = \"{}\"\nelement = "
                    "\"{}\"\n\n[[world]]\nranks = {}\n",
                    name, backend, name_of(element), ranks);
    for (auto const& [operation, bytes] : sizes) {
        std::vector<std::string> ranges;
        for (std::uint64_t const size : bytes) {
            ranges.push_back(fmt::format("{}:{}", size, size));
        }
        text += fmt::format(
            "\n[[program]]\nname = \"{0}\"\nprogram = \"collective\"\noperation = \"{0}\"\nmessage-size = \"{1}\"\n",
            operation == OperationKind::reduce_scatter ? "reduce_scatter_block" : name_in_tables(operation),
            fmt::join(ranges, ","));
    }
    return text;
}

class Search {
public:
    void add_options(CLI::App& parser) {
        parser
            .add_option("--layers", layers_,
                        "INPUTSxOUTPUTS of each layer in order, such as 4096x16384,16384x4096; or the config.json of a "
                        "transformer (Hugging Face), whose blocks have four")
            ->required()
            ->delimiter(',');
        parser
            .add_option("--repeat", repeat_,
                        "how many times these layers follow each other [1; of a model file: its blocks]")
            ->check(CLI::Range(1, static_cast<int>(most_layers)));
        parser.add_option("--tokens", tokens_, "tokens of all ranks in one step")
            ->required()
            ->check(number_check(1, 1e12));
        parser.add_option("--mesh", mesh_, "ranks along each axis, such as 8, 2x4, 2x2x2")->required();
        parser.add_option("--element", element_, "element type of activations, weights and gradients")
            ->capture_default_str();
        price_.add_to(parser);
        CLI::Option* const sweep = parser.add_option(
            "--next-sweep", sweep_,
            "where to write the sweep that measures the collectives; one file for each number of ranks");
        parser.add_option("--backend", backend_, "backend of the sweep")->needs(sweep)->capture_default_str();
        parser.add_flag("--json", json_, "print one JSON object");
    }

    int run() {
        return unless_refused([this] { return answered(); });
    }

private:
    int answered() {
        LayoutProblem const problem = read_problem();
        Price const price = price_.price();
        LayoutChoice const choice = search_layouts(problem, price);
        std::vector<std::pair<std::string, double>> others;
        for (Division const division : {Division::data, Division::column, Division::row}) {
            std::vector<LayerDivision> const all(problem.layers.size(), LayerDivision(problem.mesh.size(), division));
            others.emplace_back(name_of(division), price_of(problem, all, price).us);
        }
        std::set<int> groups;
        for (LayoutMove const& each : choice.moves) {
            groups.insert(each.move.ranks);
        }
        if (groups.size() > 1 && is_standard_output(sweep_)) {
            throw UsageError(fmt::format("--next-sweep {}: one sweep for each of {} ranks; name a file", sweep_,
                                         fmt::join(groups, ", ")));
        }
        print_to(printed_beside({sweep_}), json_ ? to_json(problem, choice, others) : to_text(problem, choice, others));
        write_sweeps(choice, groups);
        return exit_ok;
    }

    /// Those that are repeated.
    std::vector<Layer> given_layers() {
        if (layers_.size() == 1 && layers_.front().ends_with(".json")) {
            ModelShape const model = dlmb::read_model(layers_.front());
            std::vector<Layer> block = block_of(model);
            model_name_ = model.name;
            repeat_ = repeat_ > 0 ? repeat_ : static_cast<int>(std::min<std::uint64_t>(model.layers, most_layers));
            return block;
        }
        std::vector<Layer> layers;
        for (std::string const& text : layers_) {
            auto const layer = extents_of(text, "--layers", most_extent);
            if (layer.size() != 2) {
                throw UsageError(fmt::format("--layers '{}': a layer is INPUTSxOUTPUTS", text));
            }
            layers.push_back({layer[0], layer[1]});
        }
        return layers;
    }

    LayoutProblem read_problem() {
        LayoutProblem problem;
        std::vector<std::string> const backends(backend_names().begin(), backend_names().end());
        if (std::find(backends.begin(), backends.end(), backend_) == backends.end()) {
            throw UsageError(fmt::format("--backend: {}", unknown_name("backend", backend_, backends)));
        }
        std::vector<Layer> const layers = given_layers();
        auto const times = static_cast<std::size_t>(std::max(1, repeat_));
        if (layers.size() * times > most_layers) {
            throw UsageError(fmt::format("--layers: more than {} layers", most_layers));
        }
        for (std::size_t time = 0; time < times; ++time) {
            problem.layers.insert(problem.layers.end(), layers.begin(), layers.end());
        }
        problem.tokens = tokens_;
        auto const element = element_named(element_);
        if (!element) {
            throw UsageError(fmt::format("--element: '{}' is none of {}", element_, element_names));
        }
        problem.element_bytes = static_cast<double>(size_of(*element));
        double ranks = 1;
        for (double const extent : extents_of(mesh_, "--mesh", most_mesh_ranks)) {
            problem.mesh.push_back(static_cast<int>(extent));
            ranks *= extent;
        }
        if (ranks > most_mesh_ranks || problem.mesh.size() > 3) {
            throw UsageError(fmt::format("--mesh {}: at most 3 axes and {} ranks", mesh_, most_mesh_ranks));
        }
        return problem;
    }

    [[nodiscard]] std::string to_text(LayoutProblem const& problem, LayoutChoice const& choice,
                                      std::vector<std::pair<std::string, double>> const& others) const {
        std::string text =
            fmt::format("{}{} layers on a mesh of {}, {} tokens, {}; priced by {}; {} layouts looked at\n\n",
                        model_name_.empty() ? "" : model_name_ + ": ", problem.layers.size(), mesh_, tokens_, element_,
                        price_.text(), choice.looked_at);
        for (std::size_t layer = 0; layer < problem.layers.size(); ++layer) {
            text += fmt::format("layer {:<4} {:>8} x {:<8} {}\n", layer + 1, problem.layers[layer].inputs,
                                problem.layers[layer].outputs, text_of(choice.divisions[layer]));
        }
        text += fmt::format("\n{:<6}{:<17}{:<12}{:<12}{:<15}{:>6}{:>14}{:>14}\n", "layer", "tensor", "from", "to",
                            "operation", "ranks", "bytes", "us");
        for (LayoutMove const& each : choice.moves) {
            text += fmt::format("{:<6}{:<17}{:<12}{:<12}{:<15}{:>6}{:>14.0f}{:>14.3f}\n", each.layer + 1, each.tensor,
                                text_of(each.move.from), text_of(each.move.to), name_in_tables(each.move.operation),
                                each.move.ranks, each.move.bytes, each.move.us);
        }
        text += fmt::format("\n{:.3f} us of communication in a step", choice.us);
        for (auto const& [name, us] : others) {
            text += fmt::format("; {} everywhere: {}", name, std::isinf(us) ? "no price" : fmt::format("{:.3f}", us));
        }
        return text + "\n";
    }

    [[nodiscard]] std::string to_json(LayoutProblem const& problem, LayoutChoice const& choice,
                                      std::vector<std::pair<std::string, double>> const& others) const {
        SearchJson json{{"schema", "dlmb.layouts/1.1"},  {"model", model_name_},
                        {"mesh", problem.mesh},          {"tokens", tokens_},
                        {"element", element_},           {"price", price_.text()},
                        {"looked_at", choice.looked_at}, {"us", choice.us}};
        for (auto const& [name, us] : others) {
            json["us_of_one_division"][name] = us;
        }
        for (std::size_t layer = 0; layer < problem.layers.size(); ++layer) {
            SearchJson axes = SearchJson::array();
            for (Division const division : choice.divisions[layer]) {
                axes.push_back(name_of(division));
            }
            json["layers"].push_back({{"inputs", problem.layers[layer].inputs},
                                      {"outputs", problem.layers[layer].outputs},
                                      {"division", std::move(axes)}});
        }
        json["operations"] = SearchJson::array();
        for (LayoutMove const& each : choice.moves) {
            json["operations"].push_back({{"layer", each.layer + 1},
                                          {"tensor", each.tensor},
                                          {"from", text_of(each.move.from)},
                                          {"to", text_of(each.move.to)},
                                          {"operation", name_in_tables(each.move.operation)},
                                          {"axes", each.move.axes},
                                          {"ranks", each.move.ranks},
                                          {"bytes", each.move.bytes},
                                          {"volume_bytes", each.move.volume},
                                          {"us", each.move.us}});
        }
        return json.dump(2) + "\n";
    }

    void write_sweeps(LayoutChoice const& choice, std::set<int> const& groups) const {
        if (sweep_.empty()) {
            return;
        }
        if (groups.empty()) {
            print_error(fmt::format("dlmb_predict: {}: nothing is communicated; not written\n", sweep_));
        }
        std::filesystem::path const path(sweep_);
        for (int const ranks : groups) {
            std::string const stem = is_standard_output(path) ? "layouts" : path.stem().string();
            bool const alone = groups.size() == 1;
            std::string const name = alone ? stem : fmt::format("{}-{}r", stem, ranks);
            std::filesystem::path const file = alone ? path : path.parent_path() / (name + ".toml");
            write_output(file, sweep_of(name, ranks, choice.moves, *element_named(element_), backend_));
            print_error(fmt::format("next      launch/dlmb_sweep {}\n", file.string()));
        }
    }

    std::vector<std::string> layers_;
    std::string model_name_;  // empty: the layers were given
    int repeat_ = 0;          // 0: not given
    double tokens_ = 0;
    std::string mesh_;
    std::string element_ = "bf16";
    std::string sweep_;
    std::string backend_ = "mpi";
    PriceOptions price_;
    bool json_ = false;
};

}  // namespace

void add_search(CLI::App& program, int& exit_code) {
    add_command<Search>(program, "search", "Search how to divide the layers of a model over a mesh of ranks",
                        exit_code);
}

}  // namespace dlmb::predict::commands
