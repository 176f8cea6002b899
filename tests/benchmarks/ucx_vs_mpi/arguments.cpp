// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/benchmarks/ucx_vs_mpi/arguments.hpp"

#include "common/base/error.hpp"
#include "tests/benchmarks/ucx_vs_mpi/cases.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::benchmark {

Arguments read_arguments(std::span<char*> words) {
    Arguments arguments;
    for (std::size_t i = 1; i < words.size(); ++i) {
        std::string const word = words[i];
        bool const has_value = word == "--method" || word == "--rounds" || word == "--size" || word == "--only";
        if (has_value && i + 1 == words.size()) {
            throw UsageError(fmt::format("{}: its value is missing", word));
        }
        if (word == "--method") {
            arguments.methods.emplace_back(words[++i]);
        } else if (word == "--size") {
            arguments.sizes.push_back(parse_bytes(words[++i], "--size"));
        } else if (word == "--only") {
            arguments.only = words[++i];
        } else if (word == "--rounds") {
            arguments.rounds = std::max(1, std::stoi(words[++i]));
        } else if (word == "--control") {
            arguments.control = true;
        } else {
            arguments.groups.push_back(word);
        }
    }
    if (arguments.groups.empty()) {
        arguments.groups.assign(group_names().begin(), group_names().end());
    }
    return arguments;
}

}  // namespace dlmb::benchmark
