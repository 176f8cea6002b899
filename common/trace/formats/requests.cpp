// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Requests as Mooncake publishes them: JSON Lines with the arrival in ms, tokens of prompt and answer, and ids of the
// blocks of the KV cache that the prompt fills.
#include "common/trace/formats/formats.hpp"
#include "common/trace/json_scan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <unordered_set>

namespace dlmb::trace {
namespace {

constexpr std::size_t most_requests = 10'000'000;
constexpr std::size_t most_blocks = std::size_t{1} << 25U;
constexpr Bytes most_tokens = Bytes{1} << 30U;  // of a request

class RequestReader : public Reader {
public:
    explicit RequestReader(Builder& builder) : trace_(builder.trace().requests) {}

    void read(Input& input) override {
        if (!trace_.empty()) {
            input.refuse("requests are one file");
        }
        scan_json_lines(input, [&](std::uint64_t index, std::string_view text) {
            std::string const where = fmt::format("request {}", index);
            add(input, where, parse_piece(input, where, text));
        });
        if (trace_.empty()) {
            input.refuse("no request in it");
        }
        trace_.distinct_blocks = seen_.size();
        if (least_tokens_ == most_block_tokens_) {
            trace_.block_tokens = least_tokens_;
        }
    }

private:
    void add(Input const& input, std::string const& where, Json const& json) {
        auto const number = [&](char const* name) {
            if (!json.is_object() || !json.contains(name)) {
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
        if (!trace_.empty() && request.arrival_s < trace_.requests.back().arrival_s) {
            input.refuse(fmt::format("{}.timestamp is before that of the request in front; sort them", where));
        }
        if (json.contains("hash_ids")) {
            blocks(input, where, json["hash_ids"], request);
        }
        if (trace_.requests.size() == most_requests) {
            input.refuse(fmt::format("more than {} requests", most_requests));
        }
        trace_.requests.push_back(request);
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
        if (seen_.size() > most_blocks) {
            input.refuse(fmt::format("{}: more than {} different blocks", where, most_blocks));
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

    RequestTrace& trace_;
    std::unordered_set<Bytes> seen_;
    Bytes least_tokens_ = 1;  // of a block
    Bytes most_block_tokens_ = std::numeric_limits<Bytes>::max();
};

bool is_requests(std::string_view /*name*/, std::string_view head) {
    std::string_view const line = head.substr(0, head.find('\n'));
    return first_character(head) == '{' && has_member(line, "timestamp") && has_member(line, "input_length");
}

}  // namespace

Format requests_format() {
    return {"requests", "requests to an inference service (Mooncake, JSON Lines): summary only", is_requests,
            [](Builder& builder) -> std::unique_ptr<Reader> { return std::make_unique<RequestReader>(builder); }};
}

}  // namespace dlmb::trace
