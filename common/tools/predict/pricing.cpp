// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/pricing.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>

namespace dlmb::predict {

MachineModel alpha_beta_model(double alpha_us, double gigabytes_per_s) {
    MachineModel model;
    model.forced = true;                                                   // no error is known that could refuse
    model.best.parameters.fill(-std::numeric_limits<double>::infinity());  // the logarithm of 0
    model.best.parameters[index_of(Parameter::latency)] = std::log(alpha_us);
    model.best.parameters[index_of(Parameter::byte)] = std::log(1e-3 / gigabytes_per_s);
    for (OperationKind const collective :
         {OperationKind::all_reduce, OperationKind::all_gather, OperationKind::reduce_scatter}) {
        model.best.factors[{collective, "bucket"}] = {};  // of one dimension: a ring at every size
    }
    model.best.factors[{OperationKind::exchange, "pairwise"}] = {};
    return model;
}

Fastest fastest_of(std::vector<Prediction> const& predictions) {
    auto const best = std::min_element(predictions.begin(), predictions.end(), [](auto const& left, auto const& right) {
        return left.time_us < right.time_us;
    });
    bool const apart = std::all_of(predictions.begin(), predictions.end(), [&](Prediction const& each) {
        return &each == &*best || each.low_us > best->high_us;
    });
    return {static_cast<std::size_t>(best - predictions.begin()), apart && predictions.size() > 1};
}

Answer answer(MachineModel const& model, Measurement const& question, LoadCache& cache) {
    if (std::string const why = refusal_of(model, question); !why.empty()) {
        return {std::nullopt, why};
    }
    try {
        return {predict(model, question, cache), ""};
    } catch (UsageError const& error) {
        return {std::nullopt, error.what()};
    }
}

Price model_price(MachineModel model) {
    struct Known {
        MachineModel model;
        LoadCache cache;
        std::map<std::tuple<OperationKind, double, int>, double> us;
    };
    auto const known = std::make_shared<Known>(Known{std::move(model), {}, {}});
    return [known](OperationKind collective, double bytes, int ranks) {
        if (ranks < 2) {
            return 0.0;
        }
        std::tuple const asked(collective, bytes, ranks);
        if (auto const found = known->us.find(asked); found != known->us.end()) {
            return found->second;
        }
        MachineModel const& of = known->model;
        Measurement question{of.system, {of.kind, {ranks}, 1}, collective, "", bytes};
        if (std::string const why = doubt_of(of, collective, ranks); !why.empty() && !of.forced) {
            throw ModelRefusal(fmt::format("{} over {} ranks: {}", name_in_tables(collective), ranks, why));
        }
        double best = std::numeric_limits<double>::infinity();
        for (auto const& [key, factors] : of.best.factors) {
            question.algorithm = key.second;
            auto const us = key.first == collective ? answer(of, question, known->cache).prediction : std::nullopt;
            best = us ? std::min(best, us->time_us) : best;
        }
        return known->us[asked] = best;
    };
}

}  // namespace dlmb::predict
