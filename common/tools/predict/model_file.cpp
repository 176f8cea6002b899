// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "common/base/version.hpp"
#include "common/tools/predict/fit.hpp"
#include "common/tools/predict/machine_model.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace dlmb::predict {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view schema = "dlmb.machine-model/2.0";
constexpr double largest_exponent = 25;  // of a coefficient: e^25 us are 20 hours
constexpr double widest = 100;           // logarithm of a ratio of two times

/// Numbers of a model are not known to more than this; short ones keep the file readable.
double rounded(double value) {
    return parse_whole<double>(fmt::format("{:.6g}", value)).value_or(value);
}

std::string_view name_of_kind(TopologyKind kind) {
    return kind == TopologyKind::torus ? "torus" : "tree";
}

Json parameters_json(MachineModel const& model) {
    Json parameters = Json::object();
    for (std::size_t index = 0; index < parameter_count; ++index) {
        std::vector<double> values;
        for (Coefficients const& replicate : model.replicates) {
            values.push_back(std::exp(replicate.parameters[index]));
        }
        double const value = std::exp(model.best.parameters[index]);
        parameters[std::string{parameter_names[index]}] = {
            {"value", rounded(value)},
            {"low", rounded(values.empty() ? value : quantile(values, 0.05))},
            {"high", rounded(values.empty() ? value : quantile(values, 0.95))}};
    }
    return parameters;
}

Json algorithms_json(MachineModel const& model) {
    Json list = Json::array();
    for (auto const& [key, factors] : model.best.factors) {
        Json residuals = Json::array();
        if (auto const found = model.residuals.find(key); found != model.residuals.end()) {
            for (Residual const& residual : found->second) {
                residuals.push_back(
                    {{"bytes", residual.bytes}, {"nodes", residual.nodes}, {"log_ratio", rounded(residual.log_ratio)}});
            }
        }
        list.push_back({{"collective", name_of(key.first)},
                        {"algorithm", key.second},
                        {"latency_factor", rounded(std::exp(factors.latency))},
                        {"bandwidth_factor", rounded(std::exp(factors.bandwidth))},
                        {"setup_us", rounded(fixed_us * std::exp(factors.fixed))},
                        {"residuals", std::move(residuals)}});
    }
    return list;
}

Json replicates_json(MachineModel const& model) {
    Json replicates = Json::array();
    for (Coefficients const& replicate : model.replicates) {
        Json values = Json::array();
        for (double const parameter : replicate.parameters) {
            values.push_back(rounded(parameter));
        }
        for (auto const& [key, factors] : replicate.factors) {
            for (double const factor : {factors.latency, factors.bandwidth, factors.fixed}) {
                values.push_back(rounded(factor));
            }
        }
        replicates.push_back(std::move(values));
    }
    return replicates;
}

Json widths_json(MachineModel const& model) {
    Json widths = Json::array();
    for (WidthBeyond const& each : model.width_beyond) {
        widths.push_back({{"octaves", rounded(each.octaves)}, {"width", rounded(each.width)}});
    }
    return widths;
}

Json contradicted_json(MachineModel const& model) {
    Json contradicted = Json::array();
    for (auto const& [key, nodes] : model.contradicted) {
        contradicted.push_back({{"collective", name_of(key.first)}, {"algorithm", key.second}, {"from_nodes", nodes}});
    }
    return contradicted;
}

Json held_out_json(MachineModel const& model) {
    Json held_out = Json::array();
    for (auto const& [collective, error] : model.held_out) {
        held_out.push_back({{"collective", name_of(collective)},
                            {"points", error.points},
                            {"median", rounded(error.median)},
                            {"p90", rounded(error.p90)}});
    }
    return held_out;
}

/// The value of a field, checked.
double number(Json const& json, char const* field, double least, double most) {
    Json const& value = json.at(field);
    if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most)) {
        throw UsageError(fmt::format("{} must be a number from {:g} to {:g}", field, least, most));
    }
    return value.get<double>();
}

int whole(Json const& json, char const* field, int least) {
    double const value = number(json, field, least, 1 << 30);
    if (value != std::floor(value)) {
        throw UsageError(fmt::format("{} must be a whole number", field));
    }
    return static_cast<int>(value);
}

double logarithm(Json const& json, char const* field) {
    return std::log(number(json, field, std::exp(-largest_exponent), std::exp(largest_exponent)));
}

Collective collective_in(Json const& json) {
    auto const text = json.at("collective").get<std::string>();
    auto const collective = collective_of(text);
    if (!collective) {
        throw UsageError(fmt::format("unknown collective '{}'", text));
    }
    return *collective;
}

void read_algorithm(Json const& json, MachineModel& model) {
    ImplementationKey const key{collective_in(json), json.at("algorithm").get<std::string>()};
    bool const first =
        model.best.factors
            .emplace(key, ImplementationFactors{logarithm(json, "latency_factor"), logarithm(json, "bandwidth_factor"),
                                                logarithm(json, "setup_us") - std::log(fixed_us)})
            .second;
    if (!first) {
        throw UsageError(fmt::format("algorithms: {} {} stands twice", name_of(key.first), key.second));
    }
    for (Json const& each : json.at("residuals")) {
        model.residuals[key].push_back(
            {number(each, "bytes", 0, 1e18), whole(each, "nodes", 1), number(each, "log_ratio", -widest, widest)});
    }
}

Coefficients read_replicate(Json const& json, MachineModel const& model) {
    if (!json.is_array() || json.size() != parameter_count + 3 * model.best.factors.size()) {
        throw UsageError(
            fmt::format("replicates: each must have {} numbers", parameter_count + 3 * model.best.factors.size()));
    }
    std::vector<double> values;
    for (Json const& value : json) {
        if (!value.is_number() || std::abs(value.get<double>()) > largest_exponent) {
            throw UsageError(
                fmt::format("replicates: must be numbers from {} to {}", -largest_exponent, largest_exponent));
        }
        values.push_back(value.get<double>());
    }
    Coefficients replicate;
    std::copy_n(values.begin(), parameter_count, replicate.parameters.begin());
    std::size_t at = parameter_count;
    for (auto const& [key, factors] : model.best.factors) {
        replicate.factors[key] = {values[at], values[at + 1], values[at + 2]};
        at += 3;
    }
    return replicate;
}

MachineModel read(Json const& json) {
    if (!json.is_object() || !json.contains("schema") || !json.at("schema").is_string()) {
        throw UsageError("is no machine model; make one with dlmb_predict fit");
    }
    if (auto const told = json.at("schema").get<std::string>(); !told.starts_with("dlmb.machine-model/2.")) {
        throw UsageError(
            fmt::format("'{}' cannot be read by this program, which knows dlmb.machine-model/2.x; make the model again "
                        "with dlmb_predict fit",
                        told));
    }
    MachineModel model;
    model.system = json.at("system").get<std::string>();
    auto const kind = json.at("topology").get<std::string>();
    if (kind != "torus" && kind != "tree") {
        throw UsageError(fmt::format("topology '{}' must be torus or tree", kind));
    }
    model.kind = kind == "torus" ? TopologyKind::torus : TopologyKind::tree;
    model.dimensions = whole(json, "dimensions", 0);
    Json const& input = json.at("input");
    model.input_name = input.at("name").get<std::string>();
    model.input_sha256 = input.at("sha256").get<std::string>();
    model.max_nodes = whole(input, "max_nodes", 0);
    model.points = whole(input, "points", 1);
    Json const& range = json.at("range");
    model.fewest_nodes = whole(range, "fewest_nodes", 1);
    model.most_nodes = whole(range, "most_nodes", model.fewest_nodes);
    model.processors = whole(range, "processors", 0);
    model.fewest_bytes = number(range, "fewest_bytes", 0, 1e18);
    model.most_bytes = number(range, "most_bytes", model.fewest_bytes, 1e18);
    model.limits.eager_bytes = number(json, "eager_bytes", 0, 1e18);
    model.limits.fresh_bytes = number(json, "fresh_bytes", 0, 1e18);
    model.limits.fresh_pair_bytes = number(json, "fresh_pair_bytes", 0, 1e18);
    model.limits.cached_bytes = number(json, "cached_bytes", 0, no_limit);
    model.limits.inject_bytes = number(json, "inject_bytes", 0, no_limit);
    model.jobs = whole(json, "jobs", 0);
    model.job_spread = number(json, "job_spread", 0, widest);
    model.corrected = json.at("corrected").get<bool>();
    model.forced = json.at("forced").get<bool>();
    for (std::size_t index = 0; index < parameter_count; ++index) {
        model.best.parameters[index] =
            logarithm(json.at("parameters").at(std::string{parameter_names[index]}), "value");
    }
    for (Json const& each : json.at("algorithms")) {
        read_algorithm(each, model);
    }
    Json const& error = json.at("error");
    model.held_out_above = whole(error, "held_out_above_nodes", 0);
    model.width_inside = number(error, "width_inside", 0, widest);
    for (Json const& each : error.at("width_beyond")) {
        WidthBeyond const last = model.width_beyond.empty() ? WidthBeyond{0.1, 0} : model.width_beyond.back();
        model.width_beyond.push_back(
            {number(each, "octaves", last.octaves, widest), number(each, "width", last.width, widest)});
    }
    for (Json const& each : json.at("contradicted")) {
        model.contradicted.emplace(ImplementationKey{collective_in(each), each.at("algorithm").get<std::string>()},
                                   whole(each, "from_nodes", 1));
    }
    for (Json const& each : error.at("held_out")) {
        model.held_out[collective_in(each)] = {whole(each, "points", 1), number(each, "median", 0, 1e18),
                                               number(each, "p90", 0, 1e18)};
    }
    for (Json const& each : json.at("replicates")) {
        model.replicates.push_back(read_replicate(each, model));
    }
    return model;
}

}  // namespace

std::string to_text(MachineModel const& model) {
    Json const json{{"schema", schema},
                    {"made_by", fmt::format("dlmb_predict {}", build_info().version)},
                    {"system", model.system},
                    {"topology", name_of_kind(model.kind)},
                    {"dimensions", model.dimensions},
                    {"input",
                     {{"name", model.input_name},
                      {"sha256", model.input_sha256},
                      {"max_nodes", model.max_nodes},
                      {"points", model.points}}},
                    {"range",
                     {{"fewest_nodes", model.fewest_nodes},
                      {"most_nodes", model.most_nodes},
                      {"fewest_bytes", model.fewest_bytes},
                      {"most_bytes", model.most_bytes},
                      {"processors", model.processors}}},
                    {"error",
                     {{"held_out_above_nodes", model.held_out_above},
                      {"held_out", held_out_json(model)},
                      {"width_inside", rounded(model.width_inside)},
                      {"width_beyond", widths_json(model)}}},
                    {"contradicted", contradicted_json(model)},
                    {"forced", model.forced},
                    {"eager_bytes", model.limits.eager_bytes},
                    {"fresh_bytes", model.limits.fresh_bytes},
                    {"fresh_pair_bytes", model.limits.fresh_pair_bytes},
                    {"cached_bytes", model.limits.cached_bytes},
                    {"inject_bytes", model.limits.inject_bytes},
                    {"jobs", model.jobs},
                    {"job_spread", rounded(model.job_spread)},
                    {"corrected", model.corrected},
                    {"parameters", parameters_json(model)},
                    {"algorithms", algorithms_json(model)},
                    {"replicates", replicates_json(model)}};
    std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace);
    text += '\n';
    return text;
}

MachineModel read_model(std::string_view text, std::string_view name) {
    try {
        return read(Json::parse(text));
    } catch (nlohmann::json::exception const& error) {
        throw UsageError(fmt::format("{}: is no machine model of this version: {}; make it with dlmb_predict fit", name,
                                     error.what()));
    } catch (UsageError const& error) {
        throw UsageError(fmt::format("{}: {}", name, error.what()));
    }
}

}  // namespace dlmb::predict
