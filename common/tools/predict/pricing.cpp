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
    model.best.parameters[static_cast<std::size_t>(Parameter::latency)] = std::log(alpha_us);
    model.best.parameters[static_cast<std::size_t>(Parameter::byte)] = std::log(1e-3 / gigabytes_per_s);
    for (Collective const collective : {Collective::allreduce, Collective::allgather, Collective::reduce_scatter}) {
        model.best.factors[{collective, "bucket"}] = {};  // of one dimension: a ring at every size
    }
    model.best.factors[{Collective::alltoall, "pairwise"}] = {};
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

std::optional<Prediction> answer(MachineModel const& model, Measurement const& question, LoadCache& cache) {
    auto const algorithm = algorithm_of(question.collective, question.algorithm);
    if (!algorithm || !refusal_of(model, question).empty()) {
        return std::nullopt;
    }
    try {
        return predict(model, question, *algorithm, cache);
    } catch (UsageError const&) {
        return std::nullopt;
    }
}

Price model_price(MachineModel model) {
    struct Known {
        MachineModel model;
        LoadCache cache;
        std::map<std::tuple<Collective, double, int>, double> us;
    };
    auto const known = std::make_shared<Known>(Known{std::move(model), {}, {}});
    return [known](Collective collective, double bytes, int ranks) {
        if (ranks < 2) {
            return 0.0;
        }
        std::tuple const asked(collective, bytes, ranks);
        if (auto const found = known->us.find(asked); found != known->us.end()) {
            return found->second;
        }
        MachineModel const& of = known->model;
        std::string const what = fmt::format("{} over {} ranks", name_of(collective), ranks);
        Measurement question{of.system, {of.kind, {ranks}, 1}, collective, "", bytes};
        std::string const why = refusal_of(of, question);
        if (!why.empty() && !of.forced && error_is_too_large(of, collective)) {
            throw ModelRefusal(fmt::format("{}: {}", what, why));
        }
        std::optional<double> best;
        for (auto const& [key, factors] : of.best.factors) {
            question.algorithm = key.second;
            auto const us = key.first == collective ? answer(of, question, known->cache) : std::nullopt;
            best = us && us->time_us < best.value_or(us->time_us + 1) ? us->time_us : best;
        }
        if (!best) {
            throw UsageError(fmt::format("{}: {}", what, why.empty() ? "the model has no algorithm of it" : why));
        }
        return known->us[asked] = *best;
    };
}

}  // namespace dlmb::predict
