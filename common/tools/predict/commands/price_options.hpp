// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The options by which a subcommand is told what collectives cost: --model, or --alpha-us and --bandwidth.
#pragma once

#include "common/tools/predict/commands/model_option.hpp"
#include "common/tools/predict/pricing.hpp"

#include <functional>
#include <optional>
#include <string>

namespace dlmb::predict::commands {

/// Returns the code of `answer`, or 69 and a message where the model refuses a price.
[[nodiscard]] int unless_refused(std::function<int()> const& answer);

class PriceOptions {
public:
    void add_to(CLI::App& parser);
    [[nodiscard]] bool given() const { return model_option_.given() || bandwidth_ > 0 || alpha_us_; }
    /// Must stay while the price is used. Throws UsageError where not exactly one of both ways is given.
    [[nodiscard]] Price price();
    /// "model.json of fugaku, 8 to 64 nodes", "2 us and 25 GB/s".
    [[nodiscard]] std::string text() const;

private:
    ModelOption model_option_;
    std::optional<double> alpha_us_;
    double bandwidth_ = 0;  // GB/s
    MachineModel model_;
};

}  // namespace dlmb::predict::commands
