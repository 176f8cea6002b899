// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Fits a machine model to measured collectives, all algorithms, sizes and node counts together.
#pragma once

#include "common/tools/predict/machine_model.hpp"

#include <vector>

namespace dlmb::predict {

struct FitOptions {
    int replicates = 40;  // of the bootstrap
};

/// Robust least squares on the logarithm of the time. What the fit itself cannot decide (limits, correction by
/// residuals) is decided by leaving node counts out; the held-out errors and the widths of intervals come from the
/// same. Of a single node they are decided by leaving sizes of algorithms out. Measurements of algorithms whose
/// messages are unknown are passed over. The same measurements give the same model. Throws UsageError where fewer than
/// 10 measurements are left, or topologies are mixed.
[[nodiscard]] MachineModel fit(std::vector<Measurement> const& all, FitOptions const& options, LoadCache& cache);

/// The value below which `share` of the values lie, interpolated; 0 for none.
[[nodiscard]] double quantile(std::vector<double> values, double share);

}  // namespace dlmb::predict
