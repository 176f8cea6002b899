// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Fits a machine model to measured collectives, all algorithms, sizes and node counts together.
#pragma once

#include "common/tools/predict/machine_model.hpp"

#include <vector>

namespace dlmb::predict {

/// Robust least squares on the logarithm of the time. What the fit itself cannot decide (limits, correction by
/// residuals) is decided by leaving node counts out; the held-out errors and the widths of intervals come from the
/// same. Of a single node count they stay as Limits has them. Measurements of algorithms whose messages are unknown
/// are passed over. The same measurements give the same model. Throws UsageError where fewer than
/// 10 measurements are left, or topologies are mixed. `replicates`: of the bootstrap.
[[nodiscard]] MachineModel fit(std::vector<Measurement> const& all, LoadCache& cache, int replicates = 40);

/// The fit alone, without choices, errors and widths. All measurements must be of algorithms whose messages are known.
[[nodiscard]] MachineModel estimate(std::vector<Measurement> const& measurements, Limits limits, LoadCache& cache,
                                    int replicates = 0);

/// The value below which `share` of the values lie, interpolated; 0 for none.
[[nodiscard]] double quantile(std::vector<double> values, double share);

/// Between which values of a parameter, in its unit, 90 % of the replicates are; without replicates twice its value.
[[nodiscard]] std::pair<double, double> range_of(MachineModel const& model, std::size_t parameter);

}  // namespace dlmb::predict
