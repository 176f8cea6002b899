// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Lists of values as the bytes that ranks of one launch, hence of one build, send each other.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace dlmb {

template <class Value>
[[nodiscard]] Blob blob_of(std::vector<Value> const& values) {
    auto const bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

template <class Value>
[[nodiscard]] std::vector<Value> values_in(Blob const& blob) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Value> values(blob.size() / sizeof(Value));
    if (!blob.empty()) {  // memcpy takes no null pointer
        std::memcpy(values.data(), blob.data(), values.size() * sizeof(Value));
    }
    return values;
}

/// Collective. By rank; each rank may bring another number of values.
template <class Value>
[[nodiscard]] std::vector<std::vector<Value>> gather(Bootstrap& bootstrap, std::span<Value const> mine) {
    std::vector<std::vector<Value>> all;
    for (Blob const& blob : bootstrap.all_gather(std::as_bytes(mine))) {
        all.push_back(values_in<Value>(blob));
    }
    return all;
}

}  // namespace dlmb
