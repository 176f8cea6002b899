// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/cache_use.hpp"

namespace dlmb::measure {

std::string_view name_of(CacheMode mode) {
    constexpr std::array<std::string_view, every_cache_mode.size()> names{"rotate", "warm", "flush"};
    return names.at(static_cast<std::size_t>(mode));
}

std::string_view name_of(Fill fill) {
    constexpr std::array<std::string_view, every_fill.size()> names{"random", "zeros"};
    return names.at(static_cast<std::size_t>(fill));
}

}  // namespace dlmb::measure
