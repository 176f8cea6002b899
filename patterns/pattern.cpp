// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pattern.hpp"

#include "common/base/error.hpp"
#include "common/base/row_named.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dlmb {
namespace {

std::vector<std::string> parameter_names(PatternType const& type) {
    std::vector<std::string> names;
    for (ParameterInfo const& info : type.parameters) {
        names.emplace_back(info.name);
    }
    return names;
}

/// Names the preset in every complaint.
class PresetReader {
public:
    PresetReader(PatternType const& type, nlohmann::ordered_json const& object) : type_(type), object_(object) {
        if (!object.is_object()) {
            throw UsageError(fmt::format("{}: presets.json: expected a list of objects", type.name));
        }
        name_ = text("name");
    }

    [[nodiscard]] Preset read() const {
        for (auto const& [key, value] : object_.items()) {
            if (key != "name" && key != "source" && key != "parameters") {
                refuse(fmt::format("unknown key '{}'; expected name, source, parameters", key));
            }
        }
        return {name_, text("source"), values()};
    }

private:
    [[noreturn]] void refuse(std::string const& what) const {
        throw UsageError(fmt::format("{}: presets.json: preset '{}': {}", type_.name, name_, what));
    }

    [[nodiscard]] std::string text(char const* key) const {
        auto const found = object_.find(key);
        if (found == object_.end() || !found->is_string() || found->get_ref<std::string const&>().empty()) {
            refuse(fmt::format("'{}' must be a text that is not empty", key));
        }
        return found->get<std::string>();
    }

    [[nodiscard]] Parameters values() const {
        auto const found = object_.find("parameters");
        if (found == object_.end() || !found->is_object()) {
            refuse("'parameters' must be an object");
        }
        Parameters values;
        for (auto const& [key, value] : found->items()) {
            if (!has_parameter(type_, key)) {
                refuse(unknown_name("parameter", key, parameter_names(type_)));
            }
            if (!value.is_string() && !value.is_number()) {
                refuse(fmt::format("'{}' must be a number or a text", key));
            }
            values.emplace(key, value.is_string() ? value.get<std::string>() : value.dump());
        }
        return values;
    }

    PatternType const& type_;
    nlohmann::ordered_json const& object_;
    std::string name_;
};

}  // namespace

bool has_parameter(PatternType const& type, std::string_view name) {
    return std::any_of(type.parameters.begin(), type.parameters.end(),
                       [&](ParameterInfo const& info) { return info.name == name; });
}

bool sets_compute(PatternType const& type, std::string_view parameter) {
    return std::find(type.compute_parameters.begin(), type.compute_parameters.end(), parameter) !=
           type.compute_parameters.end();
}

std::vector<Preset> presets_of(PatternType const& type) {
    nlohmann::ordered_json list;
    try {
        list = nlohmann::ordered_json::parse(type.presets_json);
    } catch (nlohmann::ordered_json::exception const& error) {  // also a number beyond double
        throw UsageError(fmt::format("{}: presets.json: {}", type.name, error.what()));
    }
    if (!list.is_array()) {
        throw UsageError(fmt::format("{}: presets.json: expected a list of objects", type.name));
    }
    std::vector<Preset> presets;
    for (nlohmann::ordered_json const& object : list) {
        Preset preset = PresetReader(type, object).read();
        if (std::any_of(presets.begin(), presets.end(),
                        [&](Preset const& known) { return known.name == preset.name; })) {
            throw UsageError(fmt::format("{}: presets.json: two presets named '{}'", type.name, preset.name));
        }
        presets.push_back(std::move(preset));
    }
    return presets;
}

Parameters resolve(PatternType const& type, std::string_view preset, Parameters const& overrides) {
    Parameters values;
    for (ParameterInfo const& info : type.parameters) {
        values.emplace(info.name, info.value);
    }
    if (!preset.empty()) {
        std::vector<Preset> const presets = presets_of(type);
        for (auto const& [name, value] : row_named(presets, preset, "preset").values) {
            values.insert_or_assign(name, value);
        }
    }
    for (auto const& [name, value] : overrides) {
        if (!has_parameter(type, name)) {
            throw UsageError(unknown_name("parameter", name, parameter_names(type)));
        }
        values.insert_or_assign(name, value);
    }
    return values;
}

PlanSource plans_of(Pattern const& pattern, WorldShape const& world, Draw draw) {
    auto received = std::make_shared<std::vector<std::vector<SetupCounts>>>(static_cast<std::size_t>(world.ranks));
    for (Rank source = 0; source < world.ranks; ++source) {
        RankSetup setup = pattern.setup_of(source, draw);
        for (SetupCounts& counts : setup.counts_to_send) {
            // Sources ascend, so this stays sorted.
            received->at(static_cast<std::size_t>(counts.to)).push_back(std::move(counts));
        }
    }
    return {received->size(), [&pattern, draw, received](Rank me) {
                return pattern.build(me, draw, pattern.setup_of(me, draw), received->at(static_cast<std::size_t>(me)));
            }};
}

}  // namespace dlmb
