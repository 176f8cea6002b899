// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/exporters/export.hpp"

#include "common/base/error.hpp"
#include "common/formats/table/query.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <array>
#include <charconv>

namespace dlmb::tuning {
namespace {

template <class Value>
void require_one(std::set<Value> const& values, std::string_view option) {
    if (values.size() > 1) {
        throw UsageError(fmt::format("the table holds rules for several of {} ({}); say which one to export", option,
                                     fmt::join(values, ", ")));
    }
}

/// Fills in an unknown word.
void complete_word(std::string& word, TuningTable const& table, std::string_view scope, std::string When::*condition,
                   std::string_view option) {
    std::set<std::string> words;
    for (Rule const& rule : table.rules) {
        if (rule.scope == scope && !(rule.when.*condition).empty()) {
            words.insert(rule.when.*condition);
        }
    }
    if (word.empty() && !words.empty()) {
        require_one(words, option);
        word = *words.begin();
    }
}

void require_known_words(Slice const& slice, TuningTable const& table) {
    Key const key{.memory = slice.memory, .dtype = slice.dtype, .reduction = slice.reduction};
    if (UnknownWord const unknown = unknown_word(table, key, "")) {
        std::vector<std::string> const known(unknown.known.begin(), unknown.known.end());
        std::string_view const option = unknown.key == "dtype" ? "element" : unknown.key;
        throw UsageError(fmt::format("--{}: {}", option, unknown_name(option, unknown.word, known)));
    }
}

}  // namespace

std::string_view name_of(LostReason reason) {
    static constexpr std::array<std::string_view, 7> names{
        "operation_not_tunable", "key_not_expressible", "size_ignored", "range_limit",
        "unknown_algorithm",     "other_slice",         "other_backend"};
    return names.at(static_cast<std::size_t>(reason));
}

std::string to_json(std::vector<Lost> const& lost) {
    std::string text = "[";
    for (Lost const& one : lost) {
        nlohmann::ordered_json const line{{"rule", one.rule}, {"why", name_of(one.why)}, {"detail", one.detail}};
        text += (text.size() > 1 ? ",\n " : "\n ") + line.dump();
    }
    return text + (lost.empty() ? "]\n" : "\n]\n");
}

Slice complete(Slice slice, TuningTable const& table, std::string_view scope, DistinguishedKeys keys) {
    require_known_words(slice, table);
    std::set<std::uint64_t> nodes;
    for (Rule const& rule : table.rules) {
        if (rule.scope == scope && rule.when.nodes) {
            nodes.insert({rule.when.nodes->min, rule.when.nodes->max});
        }
    }
    if (!slice.nodes && !nodes.empty() && !keys.nodes) {
        require_one(nodes, "--nodes");
        slice.nodes = *nodes.begin();
    }
    if (!keys.memory) {
        complete_word(slice.memory, table, scope, &When::memory, "--memory");
    }
    complete_word(slice.dtype, table, scope, &When::dtype, "--element");
    complete_word(slice.reduction, table, scope, &When::reduction, "--reduction");
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
