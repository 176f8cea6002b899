// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/run/info/info.hpp"
#include "patterns/model_lint.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace dlmb::run {
namespace {

/// The values of a preset's parameters that are sizes of a model.
ModelShape model_of(Preset const& preset) {
    auto const size = [&](char const* name) -> std::uint64_t {
        auto const found = preset.values.find(name);
        return found == preset.values.end() ? 0 : parse_whole<std::uint64_t>(found->second).value_or(0);
    };
    ModelShape shape;
    shape.source = fmt::format("preset {}", preset.name);
    shape.name = preset.name;
    shape.hidden = size("hidden");
    shape.layers = size("layers");
    shape.heads = size("heads");
    shape.kv_heads = size("kv-heads") == 0 ? shape.heads : size("kv-heads");
    shape.head_dim = size("head-dim");
    shape.vocabulary = size("vocabulary");
    shape.experts = size("experts");
    shape.top_k = size("top-k");
    shape.expert_groups = size("expert-groups");
    shape.group_limit = size("group-limit");
    auto const element = preset.values.find("element");
    shape.element = element == preset.values.end() ? std::nullopt : element_named(element->second);
    return shape;
}

}  // namespace

ModelShape model_of_presets(std::string const& name, std::span<PatternType const* const> patterns) {
    ModelShape model;
    std::vector<std::string> names;
    for (PatternType const* const type : patterns) {
        for (Preset const& preset : presets_of(*type)) {
            if (std::find(names.begin(), names.end(), preset.name) == names.end()) {
                names.push_back(preset.name);
            }
            if (preset.name == name) {
                model = joined(model, model_of(preset));
            }
        }
    }
    if (model.source.empty()) {
        throw UsageError(fmt::format("--preset: {}", unknown_name("preset", name, names)));
    }
    return model;
}

namespace {

InfoJson told_sizes(ModelShape const& model) {
    InfoJson sizes = InfoJson::object();
    for (auto const& [name, size] :
         {std::pair("hidden", model.hidden), std::pair("layers", model.layers), std::pair("heads", model.heads),
          std::pair("key-value heads", model.kv_heads), std::pair("mlp", model.mlp),
          std::pair("vocabulary", model.vocabulary), std::pair("experts", model.experts),
          std::pair("tables", std::uint64_t{model.recommendation.tables.size()})}) {
        if (size != 0) {
            sizes[name] = size;
        }
    }
    return sizes;
}

}  // namespace

InfoJson lint_json(ModelShape const& model, Parallelism const& parallel) {
    std::vector<ShapeFinding> const findings = lint(model, parallel);
    InfoJson list = InfoJson::array();
    for (ShapeFinding const& finding : findings) {
        list.push_back({{"fault", name_of(finding.fault)}, {"what", finding.what}});
    }
    bool const fits = std::none_of(findings.begin(), findings.end(), [](ShapeFinding const& finding) {
        return finding.fault == ShapeFault::does_not_fit;
    });
    return {{"model", model.name},
            {"source", model.source},
            {"sizes", told_sizes(model)},
            {"fits", fits},
            {"findings", list}};
}

std::string lint_text(InfoJson const& findings) {
    InfoJson const& list = findings["findings"];
    std::string text = fmt::format("{}:", findings["source"].get<std::string>());
    for (auto const& [name, size] : findings["sizes"].items()) {
        text += fmt::format(" {} {},", name, size.get<std::uint64_t>());
    }
    text += !list.empty() ? fmt::format(" {} finding{}\n", list.size(), list.size() == 1 ? "" : "s")
                          : (findings["sizes"].empty() ? " tells no sizes\n" : " which all fit\n");
    for (InfoJson const& finding : list) {
        text += fmt::format("  {:<12}  {}\n", finding["fault"].get<std::string>(), finding["what"].get<std::string>());
    }
    return text;
}

}  // namespace dlmb::run
