// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/tuned/parts.hpp"

#include "common/backends/tuned/step_keys.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace dlmb::tuned {

std::string name_of(StepChoice const& choice) {
    return fmt::format("{}/{}", choice.backend, to_string(choice.method));
}

namespace {

bool packs(Compute const& step) {
    return (step.conversion && step.conversion->direction == PackDirection::pack) ||
           (step.rearrangement && step.rearrangement->direction == PackDirection::pack);
}

}  // namespace

std::vector<Part> cut(Plan const& plan, std::vector<StepChoice> const& choices) {
    std::vector<Part> parts;
    std::vector<StepId> waiting;  // Compute steps that go with what is communicated next
    auto const append_waiting = [&] {
        std::vector<StepId>& steps = parts.back().steps;
        steps.insert(steps.end(), waiting.begin(), waiting.end());
        waiting.clear();
    };
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        if (auto const* const compute = std::get_if<Compute>(&plan.steps[step].operation)) {
            bool const waits = parts.empty() || !waiting.empty() || packs(*compute);
            (waits ? waiting : parts.back().steps).push_back(step);
            continue;
        }
        if (parts.empty() || name_of(parts.back().choice) != name_of(choices[step])) {
            parts.push_back({choices[step], {}});
        }
        append_waiting();
        parts.back().steps.push_back(step);
    }
    if (!parts.empty()) {
        append_waiting();
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
struct PartText {
    std::string choice;  // name_of
    std::string first;   // "step 3 \"dispatch\""
};
using RankParts = std::vector<PartText>;  // of one rank

std::string step_name(Plan const& plan, StepId step) {
    return fmt::format("step {} \"{}\"", step, plan.steps[step].label);
}

StepId first_operation(Plan const& plan, Part const& part) {
    return *std::find_if(part.steps.begin(), part.steps.end(),
                         [&](StepId step) { return !std::holds_alternative<Compute>(plan.steps[step].operation); });
}

/// Collective. By rank.
std::vector<RankParts> parts_of_ranks(Plan const& plan, std::vector<Part> const& parts, Bootstrap& bootstrap) {
    std::string text;
    for (Part const& part : parts) {
        text += name_of(part.choice) + end_of_field + step_name(plan, first_operation(plan, part)) + end_of_field;
    }
    std::vector<RankParts> all;
    for (std::vector<char> const& told : gather<char>(bootstrap, text)) {
        std::string_view rest(told.data(), told.size());
        auto const next = [&rest] {
            std::string field(rest.substr(0, rest.find(end_of_field)));
            rest.remove_prefix(field.size() + 1);
            return field;
        };
        RankParts& ranks_parts = all.emplace_back();
        while (!rest.empty()) {
            std::string choice = next();
            ranks_parts.push_back({std::move(choice), next()});
        }
    }
    return all;
}

std::string part_text(std::size_t rank, RankParts const& ranks_parts, std::size_t place) {
    return place == ranks_parts.size()
               ? fmt::format("rank {} is at its end", rank)
               : fmt::format("rank {} has {} on {}", rank, ranks_parts[place].first, ranks_parts[place].choice);
}

constexpr char const* advice = "a table that leaves the operations of this plan on one backend can run it";

/// Empty: every rank that communicates has the parts of `reference`.
std::string different_order(std::vector<RankParts> const& all, std::size_t reference) {
    RankParts const& expected = all[reference];
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        RankParts const& ranks_parts = all[rank];
        std::size_t place = 0;
        while (place < std::min(ranks_parts.size(), expected.size()) &&
               ranks_parts[place].choice == expected[place].choice) {
            ++place;
        }
        bool const same = place == ranks_parts.size() && place == expected.size();
        if (!same && !ranks_parts.empty()) {
            return fmt::format("tuned: the ranks would take turns in different orders: at turn {} {} where {}; {}",
                               place, part_text(rank, ranks_parts, place), part_text(reference, expected, place),
                               advice);
        }
    }
    return "";
}

/// Where one end of an operation is.
struct End {
    OperationKey operation = no_operation;
    std::uint32_t part = 0;
    StepId step = 0;
};

/// Collective. Empty: all ends of each operation are in one part.
std::string split_operation(Plan const& plan, std::vector<Part> const& parts, RankParts const& ranks_parts,
                            Bootstrap& bootstrap) {
    std::vector<OperationKey> const keys = operation_keys(plan);
    std::vector<End> mine;
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
        for (StepId const step : parts[part].steps) {
            if (keys[step] != no_operation) {
                mine.push_back({keys[step], part, step});
            }
        }
    }
    struct FirstEnd {
        std::size_t rank;
        End end;
    };
    std::unordered_map<OperationKey, FirstEnd> seen;
    std::vector<std::vector<End>> const ends = gather<End>(bootstrap, mine);
    for (std::size_t rank = 0; rank < ends.size(); ++rank) {
        for (End const& end : ends[rank]) {
            auto const [place, is_first] = seen.try_emplace(end.operation, FirstEnd{rank, end});
            FirstEnd const& other = place->second;
            if (!is_first && other.end.part != end.part) {
                return fmt::format("tuned: rank {} does step {} in turn {} on {}, rank {} its end of it, step {}, in "
                                   "turn {} on {}; {}",
                                   other.rank, other.end.step, other.end.part, ranks_parts[other.end.part].choice, rank,
                                   end.step, end.part, ranks_parts[end.part].choice, advice);
            }
        }
    }
    return "";
}

/// Parts of a rank that communicates with nobody.
std::vector<Part> parts_without_steps(Plan const& plan, RankParts const& ranks_parts, StepChoice const& idle) {
    std::vector<Part> parts;
    for (PartText const& part : ranks_parts) {
        std::size_t const slash = part.choice.find('/');
        parts.push_back({{part.choice.substr(0, slash), parse_method(part.choice.substr(slash + 1))}, {}});
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
    std::vector<RankParts> const all = parts_of_ranks(plan, mine, bootstrap);
    auto const communicating =
        std::find_if(all.begin(), all.end(), [](RankParts const& ranks_parts) { return !ranks_parts.empty(); });
    if (communicating == all.end()) {
        return parts_without_steps(plan, {}, idle);
    }
    std::string reason = different_order(all, static_cast<std::size_t>(communicating - all.begin()));
    if (reason.empty()) {
        reason = split_operation(plan, mine, *communicating, bootstrap);
    }
    if (!reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    return mine.empty() ? parts_without_steps(plan, *communicating, idle) : std::move(mine);
}

}  // namespace dlmb::tuned
