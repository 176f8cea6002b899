// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/placement.hpp"

#include "common/base/error.hpp"
#include "common/base/philox.hpp"
#include "common/base/units.hpp"
#include "patterns/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <istream>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>

namespace dlmb {
namespace {

using Kind = PlacementRule::Kind;

std::string expected_placements(PlacementChoices const& choices) {
    std::string text = "block, cyclic, coarse[:SEED], fine[:SEED], lpt";
    for (std::string_view const load : choices.loads) {
        text += fmt::format(", lpt:{}", load);
    }
    return text + (choices.eplb ? ", eplb" : "") + (choices.none ? ", none" : "") + ", file:PATH";
}

/// Nothing where the text is none of the rules.
std::optional<PlacementRule> placement_named(std::string_view text, PlacementChoices const& choices) {
    auto const colon = text.find(':');
    std::string_view const word = text.substr(0, colon);
    bool const detailed = colon != std::string_view::npos;
    std::string_view const detail = detailed ? text.substr(colon + 1) : "";
    PlacementRule rule;
    if (word == "file" && !detail.empty()) {
        rule.kind = Kind::file;
        rule.path = detail;
        return rule;
    }
    if (word == "coarse" || word == "fine") {
        auto const seed = detailed ? parse_whole<std::uint64_t>(detail) : std::optional<std::uint64_t>(1);
        rule.kind = word == "coarse" ? Kind::coarse : Kind::fine;
        rule.seed = seed.value_or(1);
        return seed ? std::optional(rule) : std::nullopt;
    }
    if (word == "lpt") {
        bool const known = std::find(choices.loads.begin(), choices.loads.end(), detail) != choices.loads.end();
        rule.kind = Kind::lpt;
        rule.load = detailed ? detail : choices.loads.empty() ? "" : choices.loads.front();
        return !detailed || known ? std::optional(rule) : std::nullopt;
    }
    if (detailed) {
        return std::nullopt;
    }
    for (auto const& [name, kind, offered] :
         {std::tuple{"block", Kind::block, true}, std::tuple{"cyclic", Kind::cyclic, true},
          std::tuple{"eplb", Kind::eplb, choices.eplb}, std::tuple{"none", Kind::none, choices.none}}) {
        if (word == name && offered) {
            rule.kind = kind;
            return rule;
        }
    }
    return std::nullopt;
}

/// The places of the items' units, items in random order: a run of units per item.
std::vector<std::vector<std::size_t>> shuffled_items(std::span<PlacedUnit const> units, std::uint64_t seed) {
    std::vector<std::vector<std::size_t>> items;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
        if (unit == 0 || units[unit].item != units[unit - 1].item) {
            items.emplace_back();
        }
        items.back().push_back(unit);
    }
    RandomSequence random(seed, 0, 0, stream_id(Purpose::placement, 0));
    for (std::size_t i = items.size(); i > 1; --i) {
        std::swap(items[i - 1], items[below(random.next(), static_cast<std::uint32_t>(i))]);
    }
    return items;
}

std::vector<std::size_t> dealt(PlacementRule const& rule, std::span<PlacedUnit const> units, std::size_t ranks) {
    std::vector<std::size_t> rank_of(units.size());
    std::size_t turn = 0;
    for (std::vector<std::size_t> const& item : shuffled_items(units, rule.seed)) {
        for (std::size_t const unit : item) {
            rank_of[unit] = turn % ranks;
            turn += rule.kind == Kind::fine ? 1 : 0;
        }
        turn += rule.kind == Kind::coarse ? 1 : 0;
    }
    return rank_of;
}

}  // namespace

PlacementRule read_placement_rule(Parameters const& parameters, std::string_view name,
                                  PlacementChoices const& choices) {
    ParameterValue const& text = text_of(parameters, name);
    std::optional<PlacementRule> rule = placement_named(text, choices);
    if (!rule) {
        throw UsageError(fmt::format("--{} '{}': expected {}", name, text, expected_placements(choices)));
    }
    return *std::move(rule);
}

std::vector<std::size_t> place(PlacementRule const& rule, std::span<PlacedUnit const> units, std::size_t ranks) {
    std::vector<std::size_t> rank_of(units.size());
    switch (rule.kind) {
    case Kind::block:
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            auto const at = [&](std::size_t place) {
                return rank_of.begin() + static_cast<std::ptrdiff_t>(place * units.size() / ranks);
            };
            std::fill(at(rank), at(rank + 1), rank);
        }
        return rank_of;
    case Kind::cyclic:
        for (std::size_t unit = 0; unit < units.size(); ++unit) {
            rank_of[unit] = unit % ranks;
        }
        return rank_of;
    case Kind::coarse:
    case Kind::fine:
        return dealt(rule, units, ranks);
    case Kind::lpt: {
        std::vector<std::uint64_t> loads;
        loads.reserve(units.size());
        for (PlacedUnit const& unit : units) {
            loads.push_back(unit.load);
        }
        return longest_first(loads, ranks);
    }
    case Kind::none:
    case Kind::eplb:
    case Kind::file:
        break;
    }
    throw Error("placement: this rule places no units by itself");
}

std::vector<std::size_t> longest_first(std::span<std::uint64_t const> loads, std::size_t ranks) {
    std::vector<std::size_t> order(loads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
    using Filled = std::pair<std::uint64_t, std::size_t>;  // load, rank
    std::priority_queue<Filled, std::vector<Filled>, std::greater<>> least;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        least.emplace(0, rank);
    }
    std::vector<std::size_t> rank_of(loads.size());
    for (std::size_t const item : order) {
        auto const [load, rank] = least.top();
        least.pop();
        rank_of[item] = rank;
        least.emplace(load + loads[item], rank);
    }
    return rank_of;
}

void PlacementFile::refuse(std::size_t line, std::string_view what) const {
    throw UsageError(fmt::format("{} {}:{}: {}", option, name, line, what));
}

std::vector<PlacementLine> PlacementFile::read(std::istream& text) const {
    std::vector<PlacementLine> lines;
    std::size_t number = 0;
    for (std::string line; std::getline(text, line);) {
        ++number;
        std::vector<std::string_view> const places =
            dlmb::words(std::string_view(line).substr(0, line.find('#')), " \t\v\f\r");
        if (places.empty()) {
            continue;
        }
        if (lines.size() == things) {
            refuse(number, fmt::format("more lines than the {} {}s", things, noun));
        }
        PlacementLine entry{number, {}, {}};
        if (std::find(words.begin(), words.end(), places.front()) != words.end()) {
            if (places.size() > 1) {
                refuse(number, fmt::format("'{}' stands alone", places.front()));
            }
            entry.word = places.front();
        }
        for (std::size_t i = 0; i < places.size() && entry.word.empty(); ++i) {
            entry.ranks.push_back(parse_whole<std::size_t>(places[i]).value_or(ranks));
            if (entry.ranks.back() >= ranks) {
                std::string or_words;
                for (std::string_view const word : words) {
                    or_words += fmt::format("{}'{}'", word == words.back() ? " or " : ", ", word);
                }
                refuse(number, fmt::format("'{}': expected ranks below {}{}", places[i], ranks, or_words));
            }
        }
        lines.push_back(std::move(entry));
    }
    if (lines.size() != things) {
        refuse(number, fmt::format("{} lines, expected {} (one per {})", lines.size(), things, noun));
    }
    return lines;
}

}  // namespace dlmb
