// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/tables.hpp"

#include "common/base/error.hpp"
#include "patterns/dlrm_exchange/number_lists.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::dlrm_exchange {
namespace {

constexpr std::size_t max_tables = 65536;
constexpr std::size_t criteo_tables = 26;

struct List {
    NumberRule rule;
    std::vector<Millionths> numbers;

    List(Parameters const& parameters, std::string_view name, NumberRule const& limits)
        : rule(limits), numbers(read_numbers(parameters.find(name)->second, limits)) {}

    void fit(std::size_t tables) {
        if (numbers.size() == 1) {
            numbers.resize(tables, numbers.front());
        }
        if (numbers.size() != tables) {
            throw UsageError(fmt::format("{}: {} numbers for {} tables; give 1 or {}, or change --tables", rule.option,
                                         numbers.size(), tables, tables));
        }
    }
};

}  // namespace

std::vector<Table> read_tables(Parameters const& parameters) {
    List rows(parameters, "rows", {"--rows", true, 1, max_rows, published_rows()});
    List dims(parameters, "dim", {"--dim", true, 1, max_dim, {}});
    List pooling(parameters, "pooling", {"--pooling", false, 0, max_pooling, published_pooling()});
    std::size_t count = read_unsigned(parameters, "tables", 0, max_tables);
    if (count == 0) {
        std::size_t const longest = std::max({rows.numbers.size(), dims.numbers.size(), pooling.numbers.size()});
        count = longest == 1 ? criteo_tables : longest;
    }
    for (List* list : {&rows, &dims, &pooling}) {
        list->fit(count);
    }
    std::vector<Table> tables;
    for (std::size_t t = 0; t < count; ++t) {
        tables.push_back({rows.numbers[t] / one, dims.numbers[t] / one, pooling.numbers[t]});
    }
    return tables;
}

}  // namespace dlmb::dlrm_exchange
