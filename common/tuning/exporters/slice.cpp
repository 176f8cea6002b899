// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/slice.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

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
    } else if (when.distribution == Distribution::single_node) {
        nodes.insert(1);
    }
}

void fill(std::string& word, std::set<std::string> const& words, std::string_view option) {
    if (word.empty()) {
        word = only_one(words, option).value_or("");
    }
}

}  // namespace

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

}  // namespace dlmb::tuning
