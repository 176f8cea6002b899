// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/observation.hpp"

namespace dlmb::tuning {

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
    return query;
}

}  // namespace dlmb::tuning
