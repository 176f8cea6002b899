// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/consumers/nccl/tuner.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dlmb::nccl_tuner {
namespace {

// By number, see tuner_abi.hpp.
constexpr std::array<std::string_view, function_count> functions{"broadcast", "reduce", "allgather", "reducescatter",
                                                                 "allreduce"};

std::vector<std::string_view> columns_of(std::string_view line) {
    std::vector<std::string_view> columns;
    for (std::size_t begin = 0;;) {
        std::size_t const comma = line.find(',', begin);
        columns.push_back(line.substr(begin, comma - begin));
        if (comma == line.npos) {
            return columns;
        }
        begin = comma + 1;
    }
}

template <class Number>
Number number(std::string_view text, Number least, Number most) {
    Number value{};
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
        throw std::runtime_error("'" + std::string(text) + "' is no number that can stand here");
    }
    return value;
}

std::int64_t count_or_any(std::string_view text) {
    return number<std::int64_t>(text, -1, std::numeric_limits<std::int64_t>::max());
}

template <std::size_t count>
int index_of(std::string_view name, std::array<std::string_view, count> const& names) {
    auto const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        throw std::runtime_error("'" + std::string(name) + "' is not known");
    }
    return static_cast<int>(found - names.begin());
}

Rule parse_rule(std::string_view line) {
    auto const columns = columns_of(line);
    if (columns.size() < 8 || columns.size() > 10) {
        throw std::runtime_error("has " + std::to_string(columns.size()) + " columns, 8 to 10 are expected");
    }
    constexpr auto most_bytes = std::numeric_limits<std::uint64_t>::max();
    Rule rule;
    rule.function = index_of(columns[0], functions);
    rule.min_bytes = number<std::uint64_t>(columns[1], 0, most_bytes);
    rule.max_bytes = number<std::uint64_t>(columns[2], rule.min_bytes, most_bytes);
    rule.algorithm = index_of(columns[3], algorithm_names);
    rule.protocol = index_of(columns[4], protocol_names);
    rule.channels = number<int>(columns[5], -1, std::numeric_limits<int>::max());
    rule.nodes = count_or_any(columns[6]);
    rule.ranks = count_or_any(columns[7]);
    for (std::size_t column = 8; column < columns.size(); ++column) {
        if (columns[column] != "-1") {
            throw std::runtime_error("pipelined operations and registered must be -1");
        }
    }
    return rule;
}

/// The CSV: collective,min bytes,max bytes,algorithm,protocol,channels,nodes,ranks[,pipelined operations[,registered]].
/// Bytes are NCCL's nBytes, both ends included; -1: any, of channels: NCCL's own number. The first line that matches
/// holds; # begins a comment line. Throws std::runtime_error "line 3: ..." for anything that is not as above: half a
/// table would be worse than none.
std::vector<Rule> read_rules(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<Rule> rules;
    std::string line;
    for (int count = 1; std::getline(file, line); ++count) {
        if (line.empty() || line.front() == '#') {
            continue;
        }
        try {
            rules.push_back(parse_rule(line));
        } catch (std::runtime_error const& error) {
            throw std::runtime_error("line " + std::to_string(count) + ": " + error.what());
        }
    }
    if (!file.eof()) {
        throw std::runtime_error("cannot be read");
    }
    return rules;
}

void count(std::atomic<std::uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

bool Rule::matches(Call const& call) const {
    return function == call.function && min_bytes <= call.bytes && call.bytes <= max_bytes &&
           (ranks == -1 || ranks == call.ranks) && (nodes == -1 || nodes == call.nodes);
}

Tuner::Tuner(std::size_t ranks, std::size_t nodes, Logger logger)
    : ranks_(static_cast<std::int64_t>(ranks)), nodes_(static_cast<std::int64_t>(nodes)) {
    auto const say = [&](int level, char const* what, char const* path, char const* why) {
        if (logger != nullptr) {
            logger(level, log_tuning, __FILE__, __LINE__, "DLMB tuner: %s %s: %s", what, path, why);
        }
    };
    char const* const path = std::getenv("DLMB_NCCL_TABLE");
    if (path == nullptr) {
        say(log_information, "no rules", "", "DLMB_NCCL_TABLE is not set");
        return;
    }
    try {
        rules_ = read_rules(path);
        say(log_information, "table", path, (std::to_string(rules_.size()) + " rules").c_str());
    } catch (std::exception const& error) {
        say(log_warning, "no rules from", path, error.what());
    }
}

Tuner::Choice Tuner::choose(Call& call) const {
    count(calls);
    if (forcing.load(std::memory_order_acquire)) {
        bool const known = call.function >= 0 && call.function < function_count;
        Forced const now = known ? forced[static_cast<std::size_t>(call.function)].load() : Forced{};
        return {now.algorithm, now.protocol, now.channels};
    }
    call.ranks = ranks_;
    call.nodes = nodes_;
    auto const found = std::find_if(rules_.begin(), rules_.end(), [&](Rule const& rule) { return rule.matches(call); });
    return found == rules_.end() ? Choice{} : Choice{found->algorithm, found->protocol, std::max(found->channels, 0)};
}

void Tuner::write(Call call, float* costs, int algorithms, int protocols, int* channels) const {
    Choice const choice = choose(call);
    if (choice.algorithm < 0) {
        return;
    }
    if (choice.algorithm >= algorithms || choice.protocol >= protocols) {
        return count(refused);
    }
    float& cost = costs[choice.algorithm * protocols + choice.protocol];
    if (cost == forbidden) {
        return count(refused);
    }
    cost = 0.0F;
    // Whatever is not 0 here overrides NCCL's own number.
    if (choice.channels > 0) {
        *channels = choice.channels;
    }
    count(honoured);
}

void Tuner::write(Call call, bool has_collnet, bool has_nvls, int* algorithm, int* protocol, int* channels) const {
    Choice const choice = choose(call);
    if (choice.algorithm < 0) {
        return;
    }
    bool const needs_collnet = choice.algorithm == collnet_direct || choice.algorithm == collnet_chain;
    bool const needs_nvls = choice.algorithm == nvls || choice.algorithm == nvls_tree;
    // pat came with version 3.
    if ((needs_collnet && !has_collnet) || (needs_nvls && !has_nvls) || choice.algorithm > nvls_tree) {
        return count(refused);
    }
    *algorithm = choice.algorithm;
    *protocol = choice.protocol;
    if (choice.channels > 0) {
        *channels = choice.channels;
    }
    count(honoured);
}

}  // namespace dlmb::nccl_tuner
