// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/algorithms/data_flow.hpp"

#include <algorithm>
#include <iterator>

namespace dlmb::algorithms {

/// The stretch that begins at `at`, which is made where there is none.
DataFlow::Stretches::iterator DataFlow::cut(Stretches& stretches, Bytes at) {
    auto const next = stretches.lower_bound(at);
    if (next != stretches.end() && next->first == at) {
        return next;
    }
    return stretches.emplace_hint(next, at, std::prev(next)->second);
}

void DataFlow::read(std::uint32_t step, Area area, Bytes bytes, std::vector<std::uint32_t>& waits) {
    Stretches& stretches = spaces_.at(static_cast<std::size_t>(area.space));
    auto const begin = cut(stretches, area.offset);
    auto const end = cut(stretches, area.offset + bytes);
    for (auto each = begin; each != end; ++each) {
        if (each->second.writer) {
            waits.push_back(*each->second.writer);
        }
        each->second.readers.push_back(step);
    }
}

void DataFlow::write(std::uint32_t step, Area area, Bytes bytes, std::vector<std::uint32_t>& waits) {
    Stretches& stretches = spaces_.at(static_cast<std::size_t>(area.space));
    auto const begin = cut(stretches, area.offset);
    auto const end = cut(stretches, area.offset + bytes);
    for (auto each = begin; each != end; ++each) {
        if (each->second.writer) {
            waits.push_back(*each->second.writer);
        }
        std::copy_if(each->second.readers.begin(), each->second.readers.end(), std::back_inserter(waits),
                     [step](std::uint32_t reader) { return reader != step; });
    }
    begin->second = {step, {}};
    stretches.erase(std::next(begin), end);
}

}  // namespace dlmb::algorithms
