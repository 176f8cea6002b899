// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Requests as Mooncake publishes them: JSON Lines with the arrival in ms, tokens of prompt and answer, and ids of the
// blocks of the KV cache that the prompt fills. And as tables (CSV) of Azure (TIMESTAMP,ContextTokens,GeneratedTokens;
// a date) and of BurstGPT (Timestamp, ..,Request tokens,Response tokens, ..; seconds).
#include "common/formats/input/json_scan.hpp"
#include "common/tools/plan/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace dlmb::trace {
namespace {

constexpr std::size_t most_requests = 10'000'000;
constexpr std::size_t most_different_blocks = std::size_t{1} << 25U;
constexpr Bytes most_tokens = Bytes{1} << 30U;  // of a request

/// Names of a column, in the order of RequestReader's cells: the first in each list that the header has.
constexpr std::array<std::array<std::string_view, 2>, 3> csv_columns{
    {{"TIMESTAMP", "Timestamp"}, {"ContextTokens", "Request tokens"}, {"GeneratedTokens", "Response tokens"}}};

/// Where those columns are in a header; nothing where one is missing.
std::optional<std::array<std::size_t, csv_columns.size()>> csv_places(std::string_view header) {
    auto const cells = split(header.substr(0, header.find_last_not_of(" \r") + 1), ",");
    std::array<std::size_t, csv_columns.size()> places{};
    for (std::size_t column = 0; column < csv_columns.size(); ++column) {
        auto const found = std::find_first_of(cells.begin(), cells.end(), csv_columns.at(column).begin(),
                                              csv_columns.at(column).end());
        if (found == cells.end()) {
            return std::nullopt;
        }
        places.at(column) = static_cast<std::size_t>(found - cells.begin());
    }
    return places;
}

/// Seconds: a number, or since 1970 of "2023-11-16 18:15:46.6805900" in UTC.
std::optional<double> seconds_of(std::string_view text) {
    for (std::string_view const utc : {"Z", "+00:00"}) {
        text.remove_suffix(text.ends_with(utc) ? utc.size() : 0);
    }
    constexpr std::size_t date = 10;
    constexpr std::size_t minute = 16;
    if (text.size() <= minute || text[4] != '-') {
        return parse_whole<double>(text);
    }
    auto const number = [&](std::size_t begin) { return parse_whole<unsigned>(text.substr(begin, 2)); };
    auto const year = parse_whole<int>(text.substr(0, 4));
    auto const month = number(5);
    auto const day = number(8);
    auto const hours = number(date + 1);
    auto const minutes = number(date + 4);
    auto const seconds = parse_whole<double>(text.substr(minute + 1));
    if (!year || !month || !day || !hours || !minutes || !seconds) {
        return std::nullopt;
    }
    auto const day_of_year = std::chrono::year(*year) / static_cast<int>(*month) / static_cast<int>(*day);
    if (!day_of_year.ok()) {
        return std::nullopt;
    }
    std::chrono::sys_days const days = day_of_year;
    return std::chrono::duration<double>(days.time_since_epoch() + std::chrono::hours(*hours) +
                                         std::chrono::minutes(*minutes))
               .count() +
           *seconds;
}

class RequestReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        if (!trace_.empty()) {
            input.refuse("requests are one file");
        }
        if (first_character(input.peek(1)) != '{') {
            read_table(input);
        } else {
            scan_json_lines(input, "request",
                            [&](std::string const& where, Json const& object) { add(input, where, object); });
        }
        if (trace_.empty()) {
            input.refuse("no request in it");
        }
        trace_.distinct_blocks = seen_.size();
        if (least_tokens_ == most_block_tokens_) {
            trace_.block_tokens = least_tokens_;
        }
    }

private:
    void read_table(Input& input) {
        std::string_view line;
        auto const places = input.line(line) ? csv_places(line) : std::nullopt;
        if (!places) {
            input.refuse("no header with TIMESTAMP,ContextTokens,GeneratedTokens or Timestamp,Request tokens,Response "
                         "tokens");
        }
        while (input.line(line)) {
            line = line.substr(0, line.find_last_not_of(" \r") + 1);
            if (line.empty()) {
                continue;
            }
            auto const cells = split(line, ",");
            auto const cell = [&](std::size_t column) {
                return places->at(column) < cells.size() ? cells[places->at(column)] : std::string_view();
            };
            auto const arrival = seconds_of(cell(0));
            auto const read = parse_whole<Bytes>(cell(1));
            auto const written = parse_whole<Bytes>(cell(2));
            if (!arrival || !std::isfinite(*arrival) || !read || !written || std::max(*read, *written) > most_tokens) {
                input.refuse(fmt::format("'{}' must have a time and two numbers of tokens up to {}", line.substr(0, 64),
                                         most_tokens));
            }
            Request request;
            request.arrival_s = *arrival;
            request.input_tokens = *read;
            request.output_tokens = *written;
            append(input, "its time", request);
        }
    }

    void append(Input const& input, std::string_view time, Request const& request) {
        if (!trace_.empty() && request.arrival_s < trace_.requests.back().arrival_s) {
            input.refuse(fmt::format("{} is before that of the request in front; sort them", time));
        }
        if (trace_.requests.size() == most_requests) {
            input.refuse(fmt::format("more than {} requests", most_requests));
        }
        trace_.requests.push_back(request);
    }

    void add(Input const& input, std::string const& where, Json const& json) {
        auto const number = [&](char const* name) {
            if (!json.contains(name)) {
                input.refuse(
                    fmt::format("{}: no {}; a request has timestamp, input_length and output_length", where, name));
            }
            return whole_number(input, fmt::format("{}.{}", where, name), json[name]);
        };
        auto const tokens = [&](char const* name) {
            Bytes const value = number(name);
            if (value > most_tokens) {
                input.refuse(fmt::format("{}.{} is {}, more than {} tokens", where, name, value, most_tokens));
            }
            return value;
        };
        constexpr double ms_per_s = 1000;
        Request request;
        request.arrival_s = static_cast<double>(number("timestamp")) / ms_per_s;
        request.input_tokens = tokens("input_length");
        request.output_tokens = tokens("output_length");
        if (json.contains("hash_ids")) {
            blocks(input, where, json["hash_ids"], request);
        }
        append(input, where + ".timestamp", request);
    }

    void blocks(Input const& input, std::string const& where, Json const& list, Request& request) {
        if (!list.is_array()) {
            input.refuse(fmt::format("{}.hash_ids must be a list of numbers", where));
        }
        request.blocks = list.size();
        bool is_prefix = true;
        for (Json const& id : list) {
            bool const is_new = seen_.insert(whole_number(input, where + ".hash_ids", id)).second;
            is_prefix = is_prefix && !is_new;
            request.reused_blocks += is_prefix ? 1 : 0;
        }
        if (seen_.size() > most_different_blocks) {
            input.refuse(fmt::format("{}: more than {} different blocks", where, most_different_blocks));
        }
        // n blocks of b tokens hold the prompt and n - 1 do not.
        Bytes const number = request.blocks;
        if (number > 0) {
            least_tokens_ = std::max(least_tokens_, (request.input_tokens + number - 1) / number);
        }
        if (number > 1 && request.input_tokens > 0) {
            most_block_tokens_ = std::min(most_block_tokens_, (request.input_tokens - 1) / (number - 1));
        }
    }

    RequestTrace& trace_ = builder_.trace().requests;
    std::unordered_set<Bytes> seen_;
    Bytes least_tokens_ = 1;  // of a block
    Bytes most_block_tokens_ = std::numeric_limits<Bytes>::max();
};

bool is_requests(std::string_view /*name*/, std::string_view head) {
    std::string_view const line = head.substr(0, head.find('\n'));
    return (first_character(head) == '{' && has_member(line, "timestamp") && has_member(line, "input_length")) ||
           csv_places(line);
}

}  // namespace

TraceFormat requests_format() {
    return {"requests", "requests to an inference service (JSON Lines of Mooncake, CSV of Azure and BurstGPT)",
            is_requests, make_reader<RequestReader>};
}

}  // namespace dlmb::trace
