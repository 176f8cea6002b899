// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "common/base/version.hpp"
#include "common/formats/json/fields.hpp"
#include "common/tools/predict/fit.hpp"
#include "common/tools/predict/machine_model.hpp"

#include <fmt/format.h>

#include <cmath>

namespace dlmb::predict {
namespace {

using json::Json;

constexpr std::string_view schema = "dlmb.machine-model/3.1";
constexpr std::string_view any_schema = "dlmb.machine-model/3.";
constexpr double largest_exponent = 25;  // of a coefficient: e^25 us are 20 hours
constexpr double widest = 100;           // logarithm of a ratio of two times
constexpr int most_whole = 1 << 30;

struct ModelFormat {
    static constexpr std::string_view document = "the model";
    template <class Struct>
    static constexpr bool strict = false;
};

template <class Io>
constexpr bool writes = std::remove_cvref_t<Io>::writes;

/// Numbers of a model are not known to more than this; short ones keep the file readable.
double rounded(double value) {
    return parse_whole<double>(fmt::format("{:.6g}", value)).value_or(value);
}

/// Readers check that it is from `least` to `most`.
void field(auto& io, char const* name, auto& value, double least, double most) {
    io(name, value);
    if (!writes<decltype(io)> && !(static_cast<double>(value) >= least && static_cast<double>(value) <= most)) {
        io.refuse(name, fmt::format("must be a number from {:g} to {:g}", least, most));
    }
}
void whole(auto& io, char const* name, auto& value, int least) {
    field(io, name, value, least, most_whole);
}
void figure(auto& io, char const* name, auto& value, double least, double most) {
    double number = writes<decltype(io)> ? rounded(value) : 0;
    field(io, name, number, least, most);
    io.set(value, number);
}
/// unit * e^value
void exponential(auto& io, char const* name, auto& value, double unit = 1) {
    double number = writes<decltype(io)> ? unit * std::exp(value) : 0;
    figure(io, name, number, std::exp(-largest_exponent), std::exp(largest_exponent));
    io.set(value, std::log(number / unit));
}

void collective_field(auto& io, auto& collective) {
    io.as(
        "collective", collective, [](OperationKind value) { return Json(name_in_tables(value)); },
        [&io](Json const& json, auto& value) {
            auto const found = json.is_string() ? collective_named(json.get<std::string>()) : std::nullopt;
            if (!found) {
                io.refuse("collective", "is unknown");
            }
            io.set(value, *found);
        });
}

/// A map as a list of objects, whose fields `list` names with the key and the value. `ordered`: by the keys.
void entries(auto& io, char const* name, auto& map, auto const& list, bool ordered = false) {
    using Map = std::remove_cvref_t<decltype(map)>;
    std::vector<std::pair<typename Map::key_type, typename Map::mapped_type>> each(map.begin(), map.end());
    io.objects(name, each, [&](auto& inner, auto& entry) { list(inner, entry.first, entry.second); });
    Map const made(each.begin(), each.end());
    auto const before = [](auto const& left, auto const& right) { return left.first < right.first; };
    if (made.size() != each.size() || (ordered && !std::is_sorted(each.begin(), each.end(), before))) {
        io.refuse(name, "has an entry twice or out of order; make the model again with dlmb_predict fit");
    }
    io.set(map, made);
}

void parameter_fields(auto& io, auto& model) {
    for (std::size_t index = 0; index < parameter_count; ++index) {
        io.object(parameter_names[index].data(), [&](auto& inner) {
            exponential(inner, "value", model.best.parameters[index]);
            inner.derived("low", [&] { return rounded(range_of(model, index).first); });
            inner.derived("high", [&] { return rounded(range_of(model, index).second); });
        });
    }
}

void algorithm_fields(auto& io, auto& model) {
    auto const list = [&](auto& inner, auto& key, auto& factors) {
        collective_field(inner, key.first);
        inner("algorithm", key.second);
        exponential(inner, "latency_factor", factors.latency);
        exponential(inner, "bandwidth_factor", factors.bandwidth);
        exponential(inner, "setup_us", factors.fixed, fixed_us);
        auto const known = model.residuals.find(key);
        std::vector<Residual> residuals = known == model.residuals.end() ? std::vector<Residual>{} : known->second;
        inner.objects("residuals", residuals, [](auto& of_one, auto& residual) {
            field(of_one, "bytes", residual.bytes, 0, no_limit);
            whole(of_one, "nodes", residual.nodes, 1);
            figure(of_one, "log_ratio", residual.log_ratio, -widest, widest);
        });
        if constexpr (!writes<decltype(inner)>) {
            model.residuals[key] = std::move(residuals);
        }
    };
    entries(io, "algorithms", model.best.factors, list, true);  // replicates have the same order
}

/// The logarithms of parameters, then of the factors in the order of the algorithms.
std::vector<double> values_of(Coefficients const& replicate) {
    std::vector<double> values(replicate.parameters.begin(), replicate.parameters.end());
    for (auto const& [key, of] : replicate.factors) {
        values.insert(values.end(), {of.latency, of.bandwidth, of.fixed});
    }
    std::transform(values.begin(), values.end(), values.begin(), rounded);
    return values;
}

std::vector<Coefficients> replicates_of(std::vector<std::vector<double>> const& lists, Coefficients const& best) {
    std::vector<Coefficients> replicates(lists.size(), best);
    for (std::size_t number = 0; number < lists.size(); ++number) {
        std::vector<double> const& values = lists[number];
        if (values.size() != parameter_count + 3 * best.factors.size() ||
            std::any_of(values.begin(), values.end(), [](double each) { return std::abs(each) > largest_exponent; })) {
            throw UsageError(fmt::format("replicates: each must have {} numbers from {} to {}",
                                         parameter_count + 3 * best.factors.size(), -largest_exponent,
                                         largest_exponent));
        }
        std::copy_n(values.begin(), parameter_count, replicates[number].parameters.begin());
        std::size_t at = parameter_count;
        for (auto& [key, factors] : replicates[number].factors) {
            factors = {values[at], values[at + 1], values[at + 2]};
            at += 3;
        }
    }
    return replicates;
}

void error_fields(auto& io, auto& model) {
    whole(io, "held_out_above_nodes", model.held_out_above, 0);
    entries(io, "held_out", model.held_out, [](auto& inner, auto& collective, auto& error) {
        collective_field(inner, collective);
        whole(inner, "points", error.points, 1);
        figure(inner, "median", error.median, 0, no_limit);
        figure(inner, "p90", error.p90, 0, no_limit);
    });
    figure(io, "width_inside", model.width_inside, 0, widest);
    WidthBeyond last{0.1, 0};
    io.objects("width_beyond", model.width_beyond, [&](auto& inner, auto& each) {
        figure(inner, "octaves", each.octaves, last.octaves, widest);
        figure(inner, "width", each.width, last.width, widest);
        last = each;
    });
    // Files of 3.0 do not have it. Their models answer as they did: from the fewest nodes to the most all may have been
    // left out.
    double octaves =
        model.width_beyond.empty() ? 0 : std::log2(static_cast<double>(model.most_nodes) / model.fewest_nodes);
    if (writes<decltype(io)> || io.has("octaves_left_out")) {
        octaves = model.octaves_left_out;
        figure(io, "octaves_left_out", octaves, 0, widest);
    }
    io.set(model.octaves_left_out, octaves);
}

void fields(auto& io, json::Of<MachineModel> auto& model) {
    std::string name{schema};
    io("schema", name);
    if (!name.starts_with(any_schema)) {
        io.refuse("schema", fmt::format("'{}' cannot be read by this program, which knows {}x; make the model again "
                                        "with dlmb_predict fit",
                                        name, any_schema));
    }
    io.derived("made_by", [] { return fmt::format("dlmb_predict {}", build_info().version); });
    io("system", model.system);
    io.as(
        "topology", model.kind, [](TopologyKind kind) { return kind == TopologyKind::torus ? "torus" : "tree"; },
        [&io](Json const& json, auto& kind) {
            if (json != "torus" && json != "tree") {
                io.refuse("topology", "must be torus or tree");
            }
            io.set(kind, json == "torus" ? TopologyKind::torus : TopologyKind::tree);
        });
    whole(io, "dimensions", model.dimensions, 0);
    io.object("input", [&](auto& inner) {
        inner("name", model.input_name);
        inner("sha256", model.input_sha256);
        whole(inner, "max_nodes", model.max_nodes, 0);
        whole(inner, "points", model.points, 1);
    });
    io.object("range", [&](auto& inner) {
        whole(inner, "fewest_nodes", model.fewest_nodes, 1);
        whole(inner, "most_nodes", model.most_nodes, model.fewest_nodes);
        field(inner, "fewest_bytes", model.fewest_bytes, 0, no_limit);
        field(inner, "most_bytes", model.most_bytes, model.fewest_bytes, no_limit);
    });
    io.object("error", [&](auto& inner) { error_fields(inner, model); });
    entries(io, "contradicted", model.contradicted, [](auto& inner, auto& key, auto& nodes) {
        collective_field(inner, key.first);
        inner("algorithm", key.second);
        whole(inner, "from_nodes", nodes, 1);
    });
    io("forced", model.forced);
    field(io, "eager_bytes", model.limits.eager_bytes, 0, no_limit);
    field(io, "fresh_bytes", model.limits.fresh_bytes, 0, no_limit);
    field(io, "fresh_pair_bytes", model.limits.fresh_pair_bytes, 0, no_limit);
    field(io, "inject_bytes", model.limits.inject_bytes, 0, no_limit);
    whole(io, "jobs", model.jobs, 0);
    figure(io, "job_spread", model.job_spread, 0, widest);
    io("corrected", model.corrected);
    io.object("parameters", [&](auto& inner) { parameter_fields(inner, model); });
    algorithm_fields(io, model);
    std::vector<std::vector<double>> replicates;
    std::transform(model.replicates.begin(), model.replicates.end(), std::back_inserter(replicates), values_of);
    io("replicates", replicates);
    if constexpr (!writes<decltype(io)>) {
        model.replicates = replicates_of(replicates, model.best);
    }
}

}  // namespace

std::string to_text(MachineModel const& model) {
    std::string text = json::write_at<ModelFormat>(model, json::Place("the model"))
                           .dump(1, ' ', false, Json::error_handler_t::replace);
    text += '\n';
    return text;
}

MachineModel read_model(std::string_view text, std::string_view name, bool force) {
    MachineModel model;
    try {
        Json const json = Json::parse(text);
        if (!json.is_object() || !json.contains("schema")) {
            throw UsageError("is no machine model; make one with dlmb_predict fit");
        }
        json::read_at<ModelFormat>(json, model, json::Place("the model"), false);
    } catch (nlohmann::json::exception const& error) {
        throw UsageError(fmt::format("{}: is no machine model of this version: {}; make it with dlmb_predict fit", name,
                                     error.what()));
    } catch (UsageError const& error) {
        throw UsageError(fmt::format("{}: {}", name, error.what()));
    }
    model.forced = model.forced || force;
    return model;
}

}  // namespace dlmb::predict
