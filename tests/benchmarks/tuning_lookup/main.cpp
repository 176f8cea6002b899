// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Nanoseconds of one dlmb_tuning_lookup, in tables of 24 to 2400 rules. Questions go through all operations, sizes and
// rank counts; best of the repetitions, the last column for questions that select a backend first.
#include "common/base/clock.hpp"
#include "common/formats/table/c/dlmb_tuning.h"
#include "common/formats/table/table_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <limits>
#include <stdexcept>

namespace dlmb::benchmark {
namespace {

using namespace tuning;

constexpr std::uint64_t rank_counts[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr char const* scopes[] = {select_scope, "mpi", "ucx", "nccl"};

Rule rule_for(std::string scope, TunedOperation operation, std::uint64_t ranks, ByteInterval bytes) {
    Rule rule;
    rule.id = fmt::format("{}.{}.{}.{}", scope, name_of(operation), ranks, bytes.min);
    rule.choose.backend = scope == select_scope ? "mpi" : scope;
    rule.scope = std::move(scope);
    rule.when.operation = operation;
    rule.when.ranks = CountInterval{ranks, ranks};
    rule.when.memory = "host";
    rule.when.bytes = bytes;
    return rule;
}

/// Every scope and operation with `counts` numbers of ranks and as many size ranges.
TuningTable table_of(std::size_t counts) {
    TuningTable table;
    table.system.key = table.system.cpu = "made up";
    for (char const* scope : scopes) {
        for (TunedOperation const operation : every_tuned_operation) {
            for (std::size_t ranks = 0; ranks < counts; ++ranks) {
                for (std::size_t range = 0; range < counts; ++range) {
                    Bytes const begin = range == 0 ? 0 : Bytes{1} << (2 * range);
                    table.rules.push_back(
                        rule_for(scope, operation, rank_counts[ranks], {begin, (Bytes{1} << (2 * range + 2)) - 1}));
                }
            }
        }
    }
    return table;
}

double best_ns(dlmb_tuning const* table, char const* scope, std::size_t counts) {
    constexpr int repetitions = 300;  // short ones: some are left alone by the other processes
    double best = std::numeric_limits<double>::max();
    std::uint64_t matched = 0;
    std::uint64_t asked = 0;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        std::size_t const rounds = std::max<std::size_t>(1, 200 / (counts * counts));
        Nanoseconds const start = now_ns();
        asked = 0;
        for (std::size_t round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < 6 * counts * counts; ++i) {
                dlmb_tuning_query query = DLMB_TUNING_QUERY_INIT;
                dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
                query.operation = name_of(every_tuned_operation[i % 6]).data();
                query.scope = scope;
                query.bytes = Bytes{1} << (2 * (i / 6 % counts));
                query.ranks = static_cast<std::int64_t>(rank_counts[i / 6 / counts]);
                query.memory = "host";
                matched += dlmb_tuning_lookup(table, &query, &choice) == DLMB_TUNING_MATCH ? 1U : 0U;
                ++asked;
            }
        }
        best = std::min(best, static_cast<double>(now_ns() - start) / static_cast<double>(asked));
    }
    if (matched != asked * repetitions) {
        throw std::runtime_error("a question had no answer");
    }
    return best;
}

void measure(std::size_t counts) {
    auto const path = std::filesystem::temp_directory_path() / "dlmb_tuning_lookup.json";
    TuningTable const table = table_of(counts);
    write_table(path, table);
    dlmb_tuning* opened = nullptr;
    int const code = dlmb_tuning_open(path.c_str(), nullptr, &opened);
    std::filesystem::remove(path);
    if (code != 0) {
        throw std::runtime_error(fmt::format("dlmb_tuning_open: {}", code));
    }
    fmt::print("{:>8}{:>18.0f}{:>18.0f}\n", table.rules.size(), best_ns(opened, "nccl", counts),
               best_ns(opened, nullptr, counts));
    dlmb_tuning_close(opened);
}

}  // namespace
}  // namespace dlmb::benchmark

int main() {
    try {
        fmt::print("{:>8}{:>18}{:>18}\n", "rules", "ns in a backend", "ns with select");
        for (std::size_t const counts : {1U, 2U, 4U, 10U}) {
            dlmb::benchmark::measure(counts);
        }
        return 0;
    } catch (std::exception const& error) {
        fmt::print(stderr, "tuning_lookup: error: {}\n", error.what());
        return 1;
    }
}
