// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/export.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <charconv>

namespace dlmb::tuning {
namespace {

/// Nothing: the rules name none.
template <class Value>
std::optional<Value> only_one(std::set<Value> const& values, std::string_view option) {
    if (values.size() > 1) {
        throw UsageError(fmt::format("the table holds rules for several of {} ({}); say which one to export", option,
                                     fmt::join(values, ", ")));
    }
    return values.empty() ? std::nullopt : std::optional{*values.begin()};
}

void collect(std::set<std::string>& words, std::string const& word) {
    if (!word.empty()) {
        words.insert(word);
    }
}

void collect_nodes(std::set<std::uint64_t>& nodes, When const& when) {
    if (when.nodes) {
        nodes.insert({when.nodes->min, when.nodes->max});
    }
}

void fill(std::string& word, std::set<std::string> const& words, std::string_view option) {
    if (word.empty()) {
        word = only_one(words, option).value_or("");
    }
}

}  // namespace

std::string_view name_of(LostReason reason) {
    switch (reason) {
    case LostReason::operation_not_tunable:
        return "operation_not_tunable";
    case LostReason::key_not_expressible:
        return "key_not_expressible";
    case LostReason::size_ignored:
        return "size_ignored";
    case LostReason::range_limit:
        return "range_limit";
    case LostReason::unknown_algorithm:
        return "unknown_algorithm";
    case LostReason::other_slice:
        return "other_slice";
    case LostReason::other_backend:
        break;
    }
    return "other_backend";
}

std::string to_json(std::vector<Lost> const& lost) {
    std::string text = "[";
    for (Lost const& one : lost) {
        nlohmann::ordered_json const line{{"rule", one.rule}, {"why", name_of(one.why)}, {"detail", one.detail}};
        text += (text.size() > 1 ? ",\n " : "\n ") + line.dump();
    }
    return text + (lost.empty() ? "]\n" : "\n]\n");
}

Slice complete(Slice slice, TuningTable const& table, std::string_view scope) {
    std::set<std::uint64_t> nodes;
    std::set<std::string> memory;
    std::set<std::string> dtype;
    std::set<std::string> reduction;
    for (Rule const& rule : table.rules) {
        if (rule.scope == scope) {
            collect_nodes(nodes, rule.when);
            collect(memory, rule.when.memory);
            collect(dtype, rule.when.dtype);
            collect(reduction, rule.when.reduction);
        }
    }
    if (!slice.nodes) {
        slice.nodes = only_one(nodes, "--nodes");
    }
    fill(slice.memory, memory, "--memory");
    fill(slice.dtype, dtype, "--element");
    fill(slice.reduction, reduction, "--reduction");
    return slice;
}

LibraryVersion parse_version(std::string_view text) {
    LibraryVersion version;
    char const* at = text.data();
    char const* const end = at + text.size();
    for (unsigned* part : {&version.major, &version.minor, &version.patch}) {
        auto const [stop, error] = std::from_chars(at, end, *part);
        if (error != std::errc{}) {
            break;
        }
        at = stop + (stop != end && *stop == '.' ? 1 : 0);
    }
    if (at == text.data()) {
        throw UsageError("'" + std::string(text) + "' is no version of a library; write it as 4.1.4");
    }
    return version;
}

}  // namespace dlmb::tuning
