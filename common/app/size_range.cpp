// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/size_range.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace dlmb::app {
namespace {

constexpr Bytes smallest = 8;

struct Range {
    Bytes min;
    Bytes max;
};

Range read_range(std::string_view text, std::string_view option) {
    std::size_t const colon = text.find(':');
    if (colon == std::string_view::npos) {
        Bytes const max = parse_bytes(text, option);
        return {std::min(smallest, max), max};
    }
    if (text.find(':', colon + 1) != std::string_view::npos) {
        throw UsageError(fmt::format("{} '{}': expected [MIN:]MAX, for example 8:1M", option, text));
    }
    Range const range{parse_bytes(text.substr(0, colon), option), parse_bytes(text.substr(colon + 1), option)};
    if (range.min > range.max) {
        throw UsageError(fmt::format("{} '{}': the first size is above the last; write MIN:MAX", option, text));
    }
    return range;
}

}  // namespace

std::vector<Bytes> expand_sizes(std::string_view text, std::string_view option) {
    auto const [min, max] = read_range(text, option);
    std::vector<Bytes> sizes;
    for (Bytes size = min; size < max; size = size == 0 ? smallest : 2 * size) {
        sizes.push_back(size);
        if (size > max / 2) {
            break;  // before the product overflows
        }
    }
    sizes.push_back(max);
    return sizes;
}

std::string exact_size(Bytes bytes) {
    for (auto const& [shift, unit] : {std::pair{30, 'G'}, std::pair{20, 'M'}, std::pair{10, 'K'}}) {
        if (bytes > 0 && bytes % (Bytes{1} << shift) == 0) {
            return fmt::format("{} {}", bytes >> shift, unit);
        }
    }
    return fmt::format("{} B", bytes);
}

}  // namespace dlmb::app
