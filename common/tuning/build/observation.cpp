// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/observation.hpp"

#include <algorithm>
#include <cmath>

namespace dlmb::tuning {

RatioInterval imbalance_class(double imbalance) {
    double const value = std::max(imbalance, 1.0);  // a sum of rounded shares
    auto const edge = [](double half_octave) { return std::exp2(half_octave / 2); };
    double half_octave = std::floor(2 * std::log2(value));
    half_octave += value >= edge(half_octave + 1) ? 1 : 0;
    half_octave -= value < edge(half_octave) ? 1 : 0;
    return {edge(half_octave), std::nextafter(edge(half_octave + 1), 1.0)};
}

Query query_of(Place const& place, Bytes bytes, std::string_view backend) {
    Query query;
    query.operation = place.operation;
    query.backend = backend;
    query.bytes = bytes;
    query.ranks = place.ranks;
    query.nodes = place.nodes;
    query.memory = place.memory;
    query.dtype = place.dtype;
    query.reduction = place.reduction;
    query.in_place = place.in_place;
    query.uniform = place.uniform;
    query.imbalance = place.imbalance ? std::optional(place.imbalance->min) : std::nullopt;
    return query;
}

}  // namespace dlmb::tuning
