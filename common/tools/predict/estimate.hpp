// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of a machine from measured collectives: robust least squares on the logarithm of the time. fit.hpp
// makes the choices around it.
#pragma once

#include "common/tools/predict/machine_model.hpp"

#include <map>
#include <vector>

namespace dlmb::predict {

struct Estimate {
    Coefficients coefficients;
    std::map<ImplementationKey, std::vector<Residual>> residuals;
    int jobs = 0;           // with factors of their own; 0: there is one, or a torus
    double job_spread = 0;  // deviation of the logarithm of these factors
};

/// All measurements must be of algorithms whose messages are known. The same ones give the same estimate.
[[nodiscard]] Estimate estimate(std::vector<Measurement> const& measurements, Limits limits, LoadCache& cache);

/// Estimates from measurements that are drawn again, with replacement, around values that are drawn from the priors.
[[nodiscard]] std::vector<Coefficients> bootstrap(std::vector<Measurement> const& measurements, Limits limits,
                                                  int replicates, LoadCache& cache);

}  // namespace dlmb::predict
