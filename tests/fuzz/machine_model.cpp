// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Machine models: one that is read can be written, is read again, and predicts a time inside its interval.
#include "common/tools/predict/machine_model.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <optional>

namespace dlmb::fuzz {

void machine_model(std::string_view input) {
    std::optional<predict::MachineModel> model;
    (void)accepts([&] { model = predict::read_model(input, "model.json"); });
    if (!model) {
        return;
    }
    (void)predict::read_model(to_text(*model), "again");
    predict::LoadCache cache;
    predict::Measurement const question{
        model->system, predict::parse_nodes("2x4"), OperationKind::all_reduce, "ring", 4096, 0};
    auto const prediction = predict::predict(*model, question, cache);
    require(prediction.time_us > 0 && prediction.low_us <= prediction.time_us &&
                prediction.time_us <= prediction.high_us,
            "a time outside of its interval");
}

}  // namespace dlmb::fuzz
