// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/info/info.hpp"
#include "common/base/error.hpp"
#include "patterns/model_lint.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace dlmb::app {

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

InfoJson lint_json(ModelShape const& model, Parallelism const& parallel) {
    std::vector<ShapeFinding> const findings = lint(model, parallel);
    InfoJson list = InfoJson::array();
    for (ShapeFinding const& finding : findings) {
        list.push_back({{"fault", name_of(finding.fault)}, {"what", finding.what}});
    }
    bool const fits = std::none_of(findings.begin(), findings.end(), [](ShapeFinding const& finding) {
        return finding.fault == ShapeFault::does_not_fit;
    });
    return {{"model", model.name}, {"source", model.source}, {"fits", fits}, {"findings", list}};
}

std::string lint_text(InfoJson const& findings) {
    InfoJson const& list = findings["findings"];
    std::string text = fmt::format("{}: {}\n", findings["source"].get<std::string>(),
                                   list.empty() ? "all sizes fit" : fmt::format("{} findings", list.size()));
    for (InfoJson const& finding : list) {
        text += fmt::format("  {:<12}  {}\n", finding["fault"].get<std::string>(), finding["what"].get<std::string>());
    }
    return text;
}

}  // namespace dlmb::app
