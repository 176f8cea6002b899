// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/verify/program_output.hpp"

#include "common/base/lower_case.hpp"
#include "common/base/units.hpp"
#include "common/formats/table/nccl_tuner_control.hpp"
#include "common/tools/tune/exporters/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>

namespace dlmb::tuning::commands {
namespace {

/// std::regex goes a level deeper with every character.
constexpr std::size_t longest_line = 4096;

/// Calls use(line) until it is false.
template <class Use>
void for_each_line(std::istream& text, Use const& use) {
    for (std::string line; std::getline(text, line);) {
        line.resize(std::min(line.size(), longest_line));
        if (!use(line)) {
            return;
        }
    }
}

/// The heading of a collective in UCC's score map, ucc_coll_type_str(): "Reduce_scatter:".
std::string heading_of(MpiCall collective) {
    std::string heading(tuning::name_in_ucc(collective));
    heading.front() = static_cast<char>(std::toupper(heading.front()));
    return heading + ":";
}

/// From a line as "Host: {0..4095}:TL_UCP:10=NAME {4K..inf}:TL_UCP:10=NAME".
std::string function_at(std::string const& line, Bytes bytes) {
    static std::regex const entry(R"(\{(\w+)\.\.(\w+)\}:(\w+):\w+=(\S+))");
    for (std::sregex_iterator at(line.begin(), line.end(), entry), end; at != end; ++at) {
        auto const first = read_threshold((*at)[1]);
        auto const last = read_threshold((*at)[2]);
        if (first && last && *first <= bytes && bytes <= *last) {
            return fmt::format("{} {}", (*at)[3].str(), (*at)[4].str());
        }
    }
    return "";
}

/// NCCL's log has names or numbers.
template <std::size_t count>
std::string name_or_number(std::string const& text, std::array<std::string_view, count> const& names) {
    std::string const lower = lower_case(text);
    auto const number = parse_whole<std::size_t>(lower);
    return number && *number < count ? std::string(names.at(*number)) : lower;
}

}  // namespace

// The component is a file of its own or a part of the library. The one of MPI_Reduce_scatter_block that is called
// basic_linear has no "intra" in its name.
void add_bound_functions(std::istream& log, std::string_view call, BoundFunctions& functions) {
    std::regex const binding(fmt::format(
        R"(binding file \S*/(?:mca_coll_tuned|libmpi)\.so.* symbol `(ompi_coll_base_{}_(?:intra_\w+|basic_linear))')",
        call));
    std::set<std::string> before;
    std::set<std::string> seen;
    for_each_line(log, [&](std::string const& line) {
        std::smatch match;
        if (line.find("`MPI_Pcontrol'") != line.npos) {
            before.merge(seen);
            seen.clear();
        } else if (line.find("`ompi_coll_base_") != line.npos && std::regex_search(line, match, binding)) {
            seen.insert(match[1]);
        }
        return true;
    });
    functions.before.merge(before);
    functions.by_calls.merge(seen);
}

CountedMessages counted_messages(std::string const& output) {
    std::regex const word(R"(dlmb-sends (\d+))");
    CountedMessages counted;
    std::istringstream lines(output);
    for_each_line(lines, [&](std::string const& line) {
        for (std::sregex_iterator at(line.begin(), line.end(), word), end; at != end; ++at) {
            counted.sum += parse_whole<std::uint64_t>((*at)[1].str()).value_or(0);
            ++counted.ranks;
        }
        return true;
    });
    return counted;
}

std::optional<std::uint64_t> nodes_in(std::string const& output) {
    static std::regex const world(R"(: (\d+) ranks, (\d+) per node;)");
    std::optional<std::uint64_t> nodes;
    std::istringstream lines(output);
    for_each_line(lines, [&](std::string const& line) {
        std::smatch match;
        if (std::regex_search(line, match, world)) {
            auto const ranks = parse_whole<std::uint64_t>(match[1].str()).value_or(0);
            auto const per_node = parse_whole<std::uint64_t>(match[2].str()).value_or(0);
            nodes = ranks == 0 || per_node == 0 ? std::nullopt
                                                : std::optional(ranks / per_node + (ranks % per_node == 0 ? 0 : 1));
        }
        return !nodes;
    });
    return nodes;
}

std::string function_in_score_map(std::string const& log, std::uint64_t ranks, MpiCall collective, Bytes bytes) {
    std::string const team = fmt::format("size {}) =====", ranks);
    std::string const heading = fmt::format(" {}", heading_of(collective));
    std::istringstream lines(log);
    bool in_team = false;
    bool in_collective = false;
    std::string function;
    for_each_line(lines, [&](std::string const& line) {
        if (line.find("COLL_SCORE_MAP") != line.npos) {
            in_team = line.find(team) != line.npos;
            in_collective = false;
        } else if (in_team && in_collective && line.find("Host:") != line.npos) {
            function = function_at(line, bytes);
        } else if (line.find("score_map") != line.npos) {
            in_collective = line.ends_with(heading);
        }
        return function.empty();
    });
    return function;
}

// UCX 1.13 heads the table with "| dlmb ep_cfg[0] | tagged message by ucp_tag_send*() from host memory |", later ones
// with "| tagged message by ucp_tag_send* from host memory |" and have others for sends with flags.
std::string first_rendezvous(std::istream& log) {
    std::regex const heading(R"(tagged message by ucp_tag_send\*(\(\))? from)");
    std::regex const row(R"(\|\s+(\d+[KMGT]?)\.\.\S+\s+\|[^|]*rendezvous)");
    bool messages = false;
    std::string first = "none";
    for_each_line(log, [&](std::string const& line) {
        std::smatch match;
        if (line.find(" by ucp_") != line.npos) {
            messages = std::regex_search(line, heading);
        } else if (messages && std::regex_search(line, match, row)) {
            first = match[1];
        }
        return first == "none";
    });
    return first;
}

// "AllReduce: 65536 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..1}".
std::string nccl_choice(std::string const& log, std::string_view function) {
    std::regex const row(fmt::format(R"({}: \d+ Bytes -> Algo (\w+) proto (\w+))", function), std::regex::icase);
    std::string choice = "nothing";
    std::istringstream lines(log);
    for_each_line(lines, [&](std::string const& line) {
        std::smatch match;
        if (!std::regex_search(line, match, row)) {
            return true;
        }
        choice = name_or_number(match[1], nccl_tuner::algorithm_names) + " " +
                 name_or_number(match[2], nccl_tuner::protocol_names);
        return false;
    });
    return choice;
}

}  // namespace dlmb::tuning::commands
