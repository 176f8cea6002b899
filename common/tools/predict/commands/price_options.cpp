// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/commands/price_options.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/number_checks.hpp"
#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/base/output_file.hpp"
#include "common/tools/predict/machine_model.hpp"

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
    parser.add_option("--model", model_path_, "machine model of dlmb_predict fit: its fastest algorithm of each size");
    parser.add_option("--alpha-us", alpha_us_, "without a model: time of a round of a ring, us [0]")
        ->check(number_check(0, 1e9));
    parser.add_option("--bandwidth", bandwidth_, "without a model: GB/s that a rank sends")
        ->check(number_check(1e-6, 1e9));
    parser.add_flag("--force", force_, "answer also where the model's held-out error is above 40 %");
}

Price PriceOptions::price() {
    if (model_path_.empty() == (bandwidth_ <= 0)) {
        throw UsageError("give either --model MODEL, or --bandwidth GB/s with --alpha-us");
    }
    model_ = model_path_.empty() ? alpha_beta_model(alpha_us_, bandwidth_)
                                 : read_model(read_document(model_path_), model_path_, force_);
    return model_price(model_);
}

std::string PriceOptions::text() const {
    return model_path_.empty() ? fmt::format("{} us per round and {} GB/s", alpha_us_, bandwidth_)
                               : fmt::format("{}, a model of {} fitted on {} to {} nodes{}", model_path_, model_.system,
                                             model_.fewest_nodes, model_.most_nodes, model_.forced ? ", forced" : "");
}

}  // namespace dlmb::predict::commands
