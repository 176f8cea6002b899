// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/critical_phase.hpp"

#include <algorithm>
#include <vector>

namespace dlmb::measure {

std::optional<CriticalPhase> critical_phase(std::span<std::string const> labels, std::span<Nanoseconds const> samples) {
    if (labels.empty() || samples.empty()) {
        return std::nullopt;
    }
    std::vector<std::uint64_t> times(labels.size());
    std::size_t const count = samples.size() / labels.size();
    for (std::size_t sample = 0; sample < count; ++sample) {
        auto const phases = samples.subspan(sample * labels.size(), labels.size());
        ++times[static_cast<std::size_t>(std::max_element(phases.begin(), phases.end()) - phases.begin())];
    }
    auto const most = std::max_element(times.begin(), times.end());
    return CriticalPhase{labels[static_cast<std::size_t>(most - times.begin())],
                         static_cast<double>(*most) / static_cast<double>(count)};
}

}  // namespace dlmb::measure
