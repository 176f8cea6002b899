// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The results of a reduction of two fp8 numbers, by their codes: 64 KiB, which a cache holds. Looking one up takes a
// fraction of the time of two conversions to float and one back.
#pragma once

#include "common/plan/plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace dlmb {

class Fp8Results {
public:
    explicit Fp8Results(Reduction reduction);

    /// As host_reduce on elements of fp8.
    void reduce(std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes) const;

private:
    std::array<std::array<std::uint8_t, 256>, 256> by_codes_;  // left, right
};

/// Made when first asked for.
[[nodiscard]] Fp8Results const& fp8_results(Reduction reduction);

}  // namespace dlmb
