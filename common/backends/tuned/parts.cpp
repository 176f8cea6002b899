// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/tuned/parts.hpp"

#include "common/backends/tuned/traits.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace dlmb::tuned {

std::string name_of(StepChoice const& choice) {
    return fmt::format("{}/{}", choice.backend, to_string(choice.method));
}

std::vector<Part> cut(Plan const& plan, std::vector<StepChoice> const& choices) {
    std::vector<Part> parts;
    std::vector<StepId> leading;  // Compute steps before anybody communicates
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        if (std::holds_alternative<Compute>(plan.steps[step].operation)) {
            (parts.empty() ? leading : parts.back().steps).push_back(step);
            continue;
        }
        if (parts.empty() || name_of(parts.back().choice) != name_of(choices[step])) {
            parts.push_back({choices[step], std::exchange(leading, {})});
        }
        parts.back().steps.push_back(step);
    }
    return parts;
}

namespace {

std::string choice_text(Step const& step, StepChoice const& choice) {
    if (std::holds_alternative<Compute>(step.operation)) {
        return "compute";
    }
    return fmt::format("{}:{}", name_of(choice), choice.rule.empty() ? "none" : choice.rule);
}

}  // namespace

std::string step_text(Plan const& plan, std::span<StepChoice const> choices) {
    std::string text;
    std::size_t first = 0;
    while (first < choices.size()) {
        std::string const mine = choice_text(plan.steps[first], choices[first]);
        std::size_t last = first;
        while (last + 1 < choices.size() && choice_text(plan.steps[last + 1], choices[last + 1]) == mine) {
            ++last;
        }
        text += fmt::format("{}{}{}:{}", text.empty() ? "" : " ", first, last == first ? "" : fmt::format("-{}", last),
                            mine);
        first = last + 1;
    }
    return text;
}

namespace {

constexpr char end_of_field = '\n';

/// A part as its rank tells it to the others.
struct Stop {
    std::string choice;  // name_of
    std::string first;   // "step 3 \"dispatch\""
};
using Route = std::vector<Stop>;  // of one rank

std::string step_name(Plan const& plan, StepId step) {
    return fmt::format("step {} \"{}\"", step, plan.steps[step].label);
}

StepId first_meeting(Plan const& plan, Part const& part) {
    return *std::find_if(part.steps.begin(), part.steps.end(),
                         [&](StepId step) { return !std::holds_alternative<Compute>(plan.steps[step].operation); });
}

/// Collective. By rank.
std::vector<Route> routes_of(Plan const& plan, std::vector<Part> const& parts, Bootstrap& bootstrap) {
    std::string text;
    for (Part const& part : parts) {
        text += name_of(part.choice) + end_of_field + step_name(plan, first_meeting(plan, part)) + end_of_field;
    }
    std::vector<Route> routes;
    for (std::vector<char> const& told : gather<char>(bootstrap, text)) {
        std::string_view rest(told.data(), told.size());
        auto const next = [&rest] {
            std::string field(rest.substr(0, rest.find(end_of_field)));
            rest.remove_prefix(field.size() + 1);
            return field;
        };
        Route& route = routes.emplace_back();
        while (!rest.empty()) {
            std::string choice = next();
            route.push_back({std::move(choice), next()});
        }
    }
    return routes;
}

std::string stop_text(std::size_t rank, Route const& route, std::size_t place) {
    return place == route.size() ? fmt::format("rank {} is at its end", rank)
                                 : fmt::format("rank {} has {} on {}", rank, route[place].first, route[place].choice);
}

constexpr char const* advice = "a table that leaves the operations of this plan on one backend can run it";

/// Empty: every rank that communicates takes the route of `reference`.
std::string different_order(std::vector<Route> const& routes, std::size_t reference) {
    Route const& expected = routes[reference];
    for (std::size_t rank = 0; rank < routes.size(); ++rank) {
        Route const& route = routes[rank];
        std::size_t place = 0;
        while (place < std::min(route.size(), expected.size()) && route[place].choice == expected[place].choice) {
            ++place;
        }
        bool const same = place == route.size() && place == expected.size();
        if (!same && !route.empty()) {
            return fmt::format("tuned: the ranks would take turns in different orders: at turn {} {} where {}; {}",
                               place, stop_text(rank, route, place), stop_text(reference, expected, place), advice);
        }
    }
    return "";
}

/// Where one end of an operation is.
struct End {
    MeetingKey meeting = no_meeting;
    std::uint32_t part = 0;
    StepId step = 0;
};

/// Collective. Empty: all ends of each operation are in one part.
std::string torn_apart(Plan const& plan, std::vector<Part> const& parts, Route const& route, Bootstrap& bootstrap) {
    std::vector<MeetingKey> const meetings = meetings_of(plan);
    std::vector<End> mine;
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
        for (StepId const step : parts[part].steps) {
            if (meetings[step] != no_meeting) {
                mine.push_back({meetings[step], part, step});
            }
        }
    }
    struct Seen {
        std::size_t rank;
        End end;
    };
    std::unordered_map<MeetingKey, Seen> seen;
    std::vector<std::vector<End>> const ends = gather<End>(bootstrap, mine);
    for (std::size_t rank = 0; rank < ends.size(); ++rank) {
        for (End const& end : ends[rank]) {
            auto const [place, is_first] = seen.try_emplace(end.meeting, Seen{rank, end});
            Seen const& other = place->second;
            if (!is_first && other.end.part != end.part) {
                return fmt::format("tuned: rank {} does step {} in turn {} on {}, rank {} its end of it, step {}, in "
                                   "turn {} on {}; {}",
                                   other.rank, other.end.step, other.end.part, route[other.end.part].choice, rank,
                                   end.step, end.part, route[end.part].choice, advice);
            }
        }
    }
    return "";
}

/// Of a rank that communicates with nobody.
std::vector<Part> follow(Plan const& plan, Route const& route, StepChoice const& idle) {
    std::vector<Part> parts;
    for (Stop const& stop : route) {
        std::size_t const slash = stop.choice.find('/');
        parts.push_back({{stop.choice.substr(0, slash), parse_method(stop.choice.substr(slash + 1))}, {}});
    }
    if (parts.empty()) {
        parts.push_back({idle, {}});
    }
    parts.front().steps.resize(plan.steps.size());
    std::iota(parts.front().steps.begin(), parts.front().steps.end(), StepId{0});
    return parts;
}

}  // namespace

Expected<std::vector<Part>, Unsupported> agreed_parts(Plan const& plan, std::vector<Part> mine, StepChoice const& idle,
                                                      Bootstrap& bootstrap) {
    std::vector<Route> const routes = routes_of(plan, mine, bootstrap);
    auto const speaking = std::find_if(routes.begin(), routes.end(), [](Route const& route) { return !route.empty(); });
    if (speaking == routes.end()) {
        return follow(plan, {}, idle);
    }
    std::string reason = different_order(routes, static_cast<std::size_t>(speaking - routes.begin()));
    if (reason.empty()) {
        reason = torn_apart(plan, mine, *speaking, bootstrap);
    }
    if (!reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    return mine.empty() ? follow(plan, *speaking, idle) : std::move(mine);
}

}  // namespace dlmb::tuned
