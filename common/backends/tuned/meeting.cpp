// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/tuned/meeting.hpp"

#include "common/backend_kit/step_match.hpp"

namespace dlmb::tuned {
namespace {

/// splitmix64's mixing (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
constexpr std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31U);
}

MeetingKey key_of(StepMatch const& match) {
    std::uint64_t key = 0x9E3779B97F4A7C15ULL;
    auto const add = [&key](std::uint64_t field) { key = mixed(key + 0x9E3779B97F4A7C15ULL) ^ mixed(field + 1); };
    for (Rank const member : match.members) {
        add(static_cast<std::uint64_t>(member));
    }
    add(static_cast<std::uint64_t>(match.from));
    add(static_cast<std::uint64_t>(match.to));
    add(static_cast<std::uint64_t>(match.channel));
    add(match.occurrence);
    return key == no_meeting ? 1 : key;
}

}  // namespace

std::vector<MeetingKey> meetings_of(Plan const& plan) {
    std::vector<StepMatch> const matches = match_steps(plan);
    std::vector<MeetingKey> keys;
    keys.reserve(matches.size());
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        bool const meets = !std::holds_alternative<Compute>(plan.steps[step].operation);
        keys.push_back(meets ? key_of(matches[step]) : no_meeting);
    }
    return keys;
}

}  // namespace dlmb::tuned
