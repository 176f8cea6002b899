// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/sampling/phases.hpp"

#include <algorithm>
#include <string_view>

namespace dlmb::measure {
namespace {

void append_new(std::vector<std::string>& labels, std::string_view label) {
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) {
        labels.emplace_back(label);
    }
}

constexpr char separator = '\n';

std::string own_labels(std::span<Plan const> plans) {
    std::vector<std::string> labels;
    for (Plan const& plan : plans) {
        for (Step const& step : plan.steps) {
            append_new(labels, phase_of(step.label));
        }
    }
    std::string joined;
    for (std::string const& label : labels) {
        joined += label + separator;
    }
    return joined;
}

std::string_view as_text(Blob const& blob) {
    return {reinterpret_cast<char const*>(blob.data()), blob.size()};  // NOLINT(*-reinterpret-cast): bytes are chars
}

}  // namespace

PhaseMap::PhaseMap(Bootstrap& bootstrap, std::span<Plan const> plans) {
    std::string const mine = own_labels(plans);
    for (Blob const& blob : bootstrap.all_gather(std::as_bytes(std::span(mine)))) {
        std::string_view rest = as_text(blob);
        for (std::size_t end = rest.find(separator); end != rest.npos; end = rest.find(separator)) {
            append_new(labels_, rest.substr(0, end));
            rest.remove_prefix(end + 1);
        }
    }
    for (Plan const& plan : plans) {
        std::vector<std::size_t>& indices = phase_of_step_.emplace_back();
        for (Step const& step : plan.steps) {
            auto const found = std::find(labels_.begin(), labels_.end(), phase_of(step.label));
            indices.push_back(static_cast<std::size_t>(found - labels_.begin()));
        }
    }
}

void PhaseMap::times(std::size_t draw, std::span<PhaseMark const> marks, Nanoseconds t_enter, Nanoseconds t_done,
                     std::span<Nanoseconds> took, std::span<Nanoseconds> ended) const {
    std::fill(took.begin(), took.end(), no_such_phase);
    std::fill(ended.begin(), ended.end(), no_such_phase);
    Nanoseconds previous = t_enter;
    for (PhaseMark const& mark : marks) {
        std::size_t const phase = phase_of_step_[draw][mark.step];
        // Marks and the ends of the iteration come from two counters, which differ by a clock read.
        Nanoseconds const time =
            mark.time_ns == PhaseMark::at_finish ? t_done : std::clamp(mark.time_ns, previous, t_done);
        took[phase] = std::max<Nanoseconds>(took[phase], 0) + (time - previous);
        ended[phase] = time - t_enter;
        previous = time;
    }
}

std::optional<record::CriticalPhase> critical_phase(std::span<std::string const> labels,
                                                    std::span<Nanoseconds const> samples) {
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
    return record::CriticalPhase{labels[static_cast<std::size_t>(most - times.begin())],
                                 static_cast<double>(*most) / static_cast<double>(count)};
}

}  // namespace dlmb::measure
