// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of dlrm_exchange that a model file gives.
#pragma once

#include "patterns/model_parameters.hpp"

namespace dlmb::dlrm_exchange {

/// Tables and their sizes, indices per bag, and the dense layers with their inputs: 13 numbers below, as in Criteo's
/// data; above, what the interaction of F tables and the dense vector of D values gives: D + F (F + 1) / 2 dot products
/// and values, or (F + 1) D for cross layers (torchrec/models/dlrm.py). Throws UsageError for a model without tables,
/// one whose tables differ in D though it tells its upper layers, and for --parallel, which divides no such model.
[[nodiscard]] ModelDerived of_model(ModelShape const& model, Parallelism const& parallel);

}  // namespace dlmb::dlrm_exchange
