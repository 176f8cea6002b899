// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/pricing.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>

namespace dlmb::predict {

Price alpha_beta_price(double alpha_us, double gigabytes_per_s) {
    double const us_per_byte = 1e-3 / gigabytes_per_s;
    return [alpha_us, us_per_byte](Collective collective, double bytes, int ranks) {
        double const rounds = ranks - 1;
        double const once = rounds * alpha_us + rounds / ranks * bytes * us_per_byte;
        switch (collective) {
        case Collective::allreduce:
            return 2 * once;
        case Collective::allgather:
        case Collective::reduce_scatter:
        case Collective::alltoall:
            return once;
        default:
            throw UsageError(fmt::format("{} has no price by latency and bandwidth", name_of(collective)));
        }
    };
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

std::optional<BestAlgorithm> best_algorithm(MachineModel const& model, Measurement question, LoadCache& cache) {
    std::optional<BestAlgorithm> best;
    for (auto const& [key, factors] : model.best.factors) {
        auto const algorithm = algorithm_of(key.first, key.second);
        if (key.first != question.collective || !algorithm) {
            continue;
        }
        question.algorithm = key.second;
        auto const contradicted = model.contradicted.find(key);
        if (contradicted != model.contradicted.end() && question.topology.nodes() >= contradicted->second) {
            continue;
        }
        try {
            Prediction const prediction = predict(model, question, *algorithm, cache);
            if (!best || prediction.time_us < best->us.time_us) {
                best = BestAlgorithm{key.second, prediction};
            }
        } catch (UsageError const&) {
            continue;  // not for so many ranks
        }
    }
    return best;
}

Price model_price(MachineModel const& model) {
    using Key = std::tuple<Collective, double, int>;
    auto const known = std::make_shared<std::map<Key, double>>();
    auto const cache = std::make_shared<LoadCache>();
    return [&model, known, cache](Collective collective, double bytes, int ranks) {
        if (ranks < 2) {
            return 0.0;
        }
        auto const found = known->find({collective, bytes, ranks});
        if (found != known->end()) {
            return found->second;
        }
        Measurement question;
        question.system = model.system;
        question.topology = {model.kind, {ranks}, 1};
        question.collective = collective;
        question.bytes = bytes;
        if (std::string const why = refusal_of(model, question); !why.empty()) {
            std::string const text = fmt::format("{} over {} ranks: {}", name_of(collective), ranks, why);
            if (!model.forced && error_is_too_large(model, collective)) {
                throw ModelRefusal(text);
            }
            throw UsageError(text);
        }
        auto const best = best_algorithm(model, question, *cache);
        if (!best) {
            throw UsageError(
                fmt::format("{}: the model has no algorithm of it for {} ranks", name_of(collective), ranks));
        }
        return known->emplace(Key{collective, bytes, ranks}, best->us.time_us).first->second;
    };
}

}  // namespace dlmb::predict
