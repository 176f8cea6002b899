// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which lines of a table can be fitted. A library that is told to run an algorithm may run its own decision all the
// same, such as where a setting did not reach it; then the name in the table is wrong.
#pragma once

#include "common/predict/measurements.hpp"

#include <vector>

namespace dlmb::predict {

/// The measurements of known algorithms, without those that ran something else: in a job, an algorithm "X_LIBRARY"
/// takes the times of "default_LIBRARY", and another implementation of X, with the same messages, takes others.
[[nodiscard]] std::vector<Measurement> measurements_to_fit(std::vector<TableLine> const& lines);

}  // namespace dlmb::predict
