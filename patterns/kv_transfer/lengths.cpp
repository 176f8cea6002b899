// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/kv_transfer/lengths.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "patterns/readers.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>

namespace dlmb::kv_transfer {
namespace {

constexpr std::string_view of_file = "file:";
constexpr std::string_view of_quantiles = "quantiles:";
constexpr double percent = 100;

std::vector<Quantile> parse_quantiles(std::string const& text) {
    std::vector<Quantile> quantiles;
    for (std::string_view const part : split(std::string_view(text).substr(of_quantiles.size()), ":")) {
        auto const sign = std::min(part.find('='), part.size());
        auto const share = parse_whole<double>(part.substr(0, sign));
        auto const tokens = parse_whole<std::uint64_t>(part.substr(std::min(sign + 1, part.size())));
        bool const is_one = share && tokens && *share >= 0 && *share <= percent && *tokens <= max_tokens;
        if (!is_one ||
            (!quantiles.empty() && (*share <= quantiles.back().percent || *tokens < quantiles.back().tokens))) {
            throw UsageError(fmt::format("--tokens '{}': '{}' is not PERCENT=TOKENS behind the part before it, as in "
                                         "quantiles:50=1020:99=6000",
                                         text, part));
        }
        quantiles.push_back({*share, *tokens});
    }
    return quantiles;
}

using BlockIds = std::unordered_set<std::uint64_t>;

/// The ids of the blocks of one request; `field`: null where it has none. Throws UsageError with `where`.
std::vector<std::uint64_t> read_ids(nlohmann::json const& field, std::string const& where) {
    auto const is_id = [](nlohmann::json const& each) { return each.is_number_unsigned(); };
    if (!field.is_null() && !(field.is_array() && std::all_of(field.begin(), field.end(), is_id))) {
        throw UsageError(fmt::format("{}: expected \"hash_ids\" to be a list of whole numbers", where));
    }
    return field.is_null() ? std::vector<std::uint64_t>{} : field.get<std::vector<std::uint64_t>>();
}

/// Blocks at the begin that were seen before. Afterwards all of them were.
std::uint64_t take_known(std::vector<std::uint64_t> const& ids, BlockIds& seen) {
    auto const fresh = std::find_if(ids.begin(), ids.end(), [&](std::uint64_t id) { return !seen.contains(id); });
    auto const known = static_cast<std::uint64_t>(fresh - ids.begin());
    seen.insert(fresh, ids.end());
    return known;
}

/// Nothing where it is no time, or earlier than `earliest`.
std::optional<double> read_time(nlohmann::json const& field, double earliest) {
    constexpr double longest_ms = 1e12;  // 30 years
    bool const is_time = field.is_number() && field.get<double>() >= earliest && field.get<double>() <= longest_ms;
    return is_time ? std::optional(field.get<double>()) : std::nullopt;
}

}  // namespace

PromptLengths PromptLengths::parse(std::string const& text) {
    if (text.starts_with(of_file)) {
        std::string const path = text.substr(of_file.size());
        return of_requests(read_option_file("--tokens", path), path);
    }
    PromptLengths lengths;
    if (text.starts_with(of_quantiles)) {
        lengths.quantiles_ = parse_quantiles(text);
        return lengths;
    }
    auto const tokens = parse_whole<std::uint64_t>(text);
    if (!tokens || *tokens > max_tokens) {
        throw UsageError(fmt::format(
            "--tokens '{}': expected a whole number from 0 to {}, quantiles:PERCENT=TOKENS:... or file:PATH", text,
            max_tokens));
    }
    lengths.recorded_ = {{*tokens, 0, 0}};
    return lengths;
}

PromptLengths PromptLengths::of_requests(std::string_view lines, std::string_view name) {
    PromptLengths lengths;
    std::size_t number = 0;
    BlockIds seen;
    lengths.has_times_ = true;
    double latest_ms = 0;
    std::optional<double> first_ms;
    for (std::string_view const line : split(lines, "\n")) {
        ++number;
        if (words(line, " \t\r").empty()) {
            continue;
        }
        auto const request = nlohmann::json::parse(line, nullptr, false);
        auto const tokens = request.is_object() ? request.find("input_length") : request.end();
        if (tokens == request.end() || !tokens->is_number_unsigned() || *tokens > max_tokens) {
            throw UsageError(fmt::format("{}:{}: expected {{\"input_length\": TOKENS}} with up to {} tokens", name,
                                         number, max_tokens));
        }
        auto const ids = read_ids(request.value("hash_ids", nlohmann::json()), fmt::format("{}:{}", name, number));
        auto const time_ms = read_time(request.value("timestamp", nlohmann::json()), latest_ms);
        lengths.has_times_ = lengths.has_times_ && time_ms;
        latest_ms = time_ms.value_or(latest_ms);
        first_ms = first_ms.value_or(latest_ms);
        lengths.has_ids_ = lengths.has_ids_ || !ids.empty();
        auto const length = tokens->get<std::uint64_t>();
        lengths.recorded_.push_back(
            {length, std::min(length, take_known(ids, seen) * recorded_block_tokens), latest_ms - *first_ms});
    }
    if (lengths.recorded_.empty()) {
        throw UsageError(fmt::format("{}: no request in it", name));
    }
    return lengths;
}

Prompt PromptLengths::prompt(Draw draw, std::uint64_t number, std::uint64_t in_draw) const {
    if (quantiles_.empty()) {
        return recorded_[(first_of(draw, in_draw) + number) % recorded_.size()];
    }
    // A length per request, as a bag of indices has one: no plan has both.
    RandomSequence random(draw.seed, draw.index, static_cast<std::uint32_t>(number), stream_id(Purpose::bag_size, 0));
    double const share = to_unit(random.next()) * percent;
    auto const above = std::find_if(quantiles_.begin(), quantiles_.end(),
                                    [share](Quantile const& each) { return each.percent >= share; });
    if (above == quantiles_.begin() || above == quantiles_.end()) {
        return {above == quantiles_.end() ? quantiles_.back().tokens : above->tokens, 0, 0};
    }
    Quantile const& below = *(above - 1);
    double const part = (share - below.percent) / (above->percent - below.percent);
    auto const more = std::llround(part * static_cast<double>(above->tokens - below.tokens));
    return {below.tokens + static_cast<std::uint64_t>(more), 0, 0};
}

double PromptLengths::arrival_ms(std::uint64_t number) const {
    std::uint64_t const passes = number / recorded_.size();
    return static_cast<double>(passes) * recorded_.back().arrival_ms + recorded_[number % recorded_.size()].arrival_ms;
}

std::uint64_t PromptLengths::most() const {
    auto const is_shorter = [](Prompt const& a, Prompt const& b) { return a.tokens < b.tokens; };
    return quantiles_.empty() ? std::max_element(recorded_.begin(), recorded_.end(), is_shorter)->tokens
                              : quantiles_.back().tokens;
}

}  // namespace dlmb::kv_transfer
