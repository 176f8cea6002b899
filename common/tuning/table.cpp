// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/table.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace dlmb::tuning {
namespace {

auto order_of(Rule const& rule) {
    When const& when = rule.when;
    return std::tie(rule.scope, when.operation, when.ranks, when.nodes, when.memory, when.bytes, when.dtype,
                    when.reduction, when.in_place, when.uniform, when.imbalance, rule.id);
}

}  // namespace

MpiLibrary mpi_library(std::string_view told) {
    std::size_t begin = 0;  // behind a blank or a "v": MVAPICH2 has a digit in its name
    while (begin < told.size() && (std::isdigit(static_cast<unsigned char>(told[begin])) == 0 || begin == 0 ||
                                   (told[begin - 1] != ' ' && told[begin - 1] != 'v'))) {
        ++begin;
    }
    std::size_t const end = std::min(told.find_first_not_of("0123456789.", begin), told.size());
    std::string_view name = told.substr(0, begin);
    for (std::string_view const known : {"Open MPI", "MPICH"}) {
        name = told.starts_with(known) ? known : name;
    }
    name = name.substr(0, name.find_last_not_of(" :") + 1);
    return {std::string(name), std::string(told.substr(begin, end - begin))};
}

void sort_rules(TuningTable& table) {
    std::sort(table.rules.begin(), table.rules.end(),
              [](Rule const& one, Rule const& other) { return order_of(one) < order_of(other); });
}

}  // namespace dlmb::tuning
