// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Prices one collective, for questions that compare many: by a machine model and the fastest of the algorithms that it
// was fitted to.
#pragma once

#include "common/tools/predict/machine_model.hpp"

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

namespace dlmb::predict {

/// Microseconds of a collective of `bytes` (of the full vector; alltoall: what one rank sends) over `ranks`. None for
/// one rank: 0. Infinite where it has no price.
using Price = std::function<double(OperationKind collective, double bytes, int ranks)>;

/// The model doubts its price and is not forced.
class ModelRefusal : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A group of `ranks` is taken to be on as many nodes; of a torus: on a ring. Remembers what it was asked. The price
/// throws ModelRefusal.
[[nodiscard]] Price model_price(MachineModel model);

/// A machine of which a latency and a bandwidth are known. Ring algorithms, p ranks, S bytes: allgather, reduce_scatter
/// and alltoall take (p-1) alpha + (p-1)/p S beta, an allreduce twice as long. It has no others.
[[nodiscard]] MachineModel alpha_beta_model(double alpha_us, double gigabytes_per_s);

/// A prediction, or why there is none: the model refuses, or the algorithm is not for so many ranks.
struct Answer {
    std::optional<Prediction> prediction;
    std::string refusal;
};
[[nodiscard]] Answer answer(MachineModel const& model, Measurement const& question, LoadCache& cache);

/// Which of some predictions is the shortest, of equal ones the first; and whether its interval lies below those of all
/// others. One alone is not apart: nothing tells that it is faster than what a library has.
struct Fastest {
    std::size_t place = 0;
    bool apart = false;
};
[[nodiscard]] Fastest fastest_of(std::vector<Prediction> const& predictions);

}  // namespace dlmb::predict
