// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/commands/price_options.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/number_checks.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"

#include <fmt/format.h>

namespace dlmb::predict::commands {

int unless_refused(std::function<int()> const& answer) {
    try {
        return answer();
    } catch (ModelRefusal const& refusal) {
        print_error(fmt::format("dlmb_predict: refused: {}; --force answers\n", refusal.what()));
        return exit_unavailable;
    }
}

void PriceOptions::add_to(CLI::App& parser) {
    model_option_.add_to(parser, "--model", "machine model of dlmb_predict fit: its fastest algorithm of each size");
    parser.add_option("--alpha-us", alpha_us_, "without a model: time of a round of a ring, us [0]")
        ->check(number_check(0, 1e9));
    parser.add_option("--bandwidth", bandwidth_, "without a model: GB/s that a rank sends")
        ->check(number_check(1e-6, 1e9));
}

Price PriceOptions::price() {
    bool const by_rounds = bandwidth_ > 0 || alpha_us_;
    if (model_option_.given() ? by_rounds : bandwidth_ <= 0) {
        throw UsageError("give either --model MODEL, or --bandwidth GB/s with --alpha-us");
    }
    model_ = model_option_.given() ? model_option_.read() : alpha_beta_model(alpha_us_.value_or(0), bandwidth_);
    return model_price(model_);
}

std::string PriceOptions::text() const {
    return model_option_.given()
               ? fmt::format("{}, a model of {} fitted on {} to {} nodes{}", model_option_.path(), model_.system,
                             model_.fewest_nodes, model_.most_nodes, model_.forced ? ", forced" : "")
               : fmt::format("{} us per round and {} GB/s", alpha_us_.value_or(0), bandwidth_);
}

}  // namespace dlmb::predict::commands
