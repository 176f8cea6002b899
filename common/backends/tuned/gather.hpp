// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plain values of all ranks.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace dlmb::tuned {

/// Collective. By rank; each rank may bring another number of values.
template <class Value>
[[nodiscard]] std::vector<std::vector<Value>> gather(Bootstrap& bootstrap, std::span<Value const> mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<std::vector<Value>> all;
    for (Blob const& blob : bootstrap.all_gather(std::as_bytes(mine))) {
        std::vector<Value>& values = all.emplace_back(blob.size() / sizeof(Value));
        if (!blob.empty()) {
            std::memcpy(values.data(), blob.data(), blob.size());
        }
    }
    return all;
}

}  // namespace dlmb::tuned
