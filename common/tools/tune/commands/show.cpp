// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune show TABLE: who wins where, by how much, and how that is known.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/formats/table/table_file.hpp"
#include "common/tools/tune/commands/run_tune.hpp"
#include "common/tools/tune/commands/table_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dlmb::tuning::commands {
namespace {

TextRow const heading{"operation", "bytes",  "ranks", "nodes", "conditions", "choice", "gain over default [95 %]",
                      "evidence",  "status", "rule"};

/// "64 K to 512 K", "from 16 K", "any".
std::string bytes_text(std::optional<ByteInterval> const& bytes) {
    if (!bytes) {
        return "any";
    }
    return bytes->max == no_limit ? fmt::format("from {}", exact_bytes(bytes->min))
                                  : fmt::format("{} to {}", exact_bytes(bytes->min), exact_bytes(bytes->max));
}

/// "4", "2 to 64", "any".
std::string counts_text(std::optional<CountInterval> const& counts) {
    if (!counts) {
        return "any";
    }
    return counts->min == counts->max ? fmt::format("{}", counts->min)
                                      : fmt::format("{} to {}", counts->min, counts->max);
}

/// Every condition but operation, bytes, ranks and nodes: "host fp32 sum in_place=no".
std::string conditions_text(When const& when) {
    std::vector<std::string> words{when.memory, when.dtype, when.reduction};
    if (when.imbalance) {
        words.push_back(fmt::format("imbalance={}..{}", when.imbalance->min, when.imbalance->max));
    }
    for (auto const& [name, value] : {std::pair{"in_place", when.in_place}, std::pair{"uniform", when.uniform}}) {
        if (value) {
            words.push_back(fmt::format("{}={}", name, *value ? "yes" : "no"));
        }
    }
    std::erase(words, "");
    return fmt::format("{}", fmt::join(words, " "));
}

std::string choice_text(Choice const& choice, bool selects) {
    return selects ? fmt::format("{}: {}", choice.backend, method_text(choice)) : method_text(choice);
}

TextRow row_of(Rule const& rule) {
    bool const selects = rule.scope == select_scope;
    std::string choice = choice_text(rule.choose, selects);
    std::string gain = gain_text(rule);
    if (auto const& candidate = rule.candidate) {
        choice += fmt::format("; candidate {}", choice_text(candidate->choose, selects));
        gain = fmt::format("candidate {}", gain_text(candidate->gain, candidate->gain_low, candidate->gain_high));
    }
    return {std::string{name_of(rule.when.operation)},
            bytes_text(rule.when.bytes),
            counts_text(rule.when.ranks),
            counts_text(rule.when.nodes),
            conditions_text(rule.when),
            choice,
            gain,
            evidence_text(rule),
            std::string{name_of(rule.status)},
            rule.id};
}

std::string stack_text(Stack const& stack) {
    std::vector<std::string> parts;
    if (stack.mpi) {
        parts.push_back(fmt::format("{} {}", stack.mpi->name, stack.mpi->version));
    }
    for (auto const& [name, version] : stack.versions) {
        parts.push_back(fmt::format("{} {}", name, version));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

void print_head(TuningTable const& table) {
    fmt::print("made      {} by {} {} from {} result files\n", table.created, table.tool.name, table.tool.version,
               table.inputs.size());
    std::string const gpu = table.system.gpu.empty() ? "" : fmt::format(", {}", table.system.gpu);
    std::string const name = table.system.name.empty() ? "" : table.system.name + ", processor ";
    fmt::print("system    {}{}{} (key {})\n", name, table.system.cpu, gpu, table.system.key);
    fmt::print("software  {}\n", stack_text(table.stack));
    fmt::print("measured  {}{}{}\n", table.policy.metric,
               table.policy.cache.empty() ? "" : fmt::format(", --cache {}", table.policy.cache),
               table.policy.beside.empty() ? "" : fmt::format(", --beside {}", table.policy.beside));
    if (std::string const suite = foreign_suite(table); !suite.empty()) {
        fmt::print(
            "evidence  foreign: numbers of {}, which DLMB has neither measured nor confirmed; nobody knows how far "
            "launches differ, so gains have no interval; exports need --accept foreign\n",
            suite);
    }
    if (weak_evidence(table) == "predicted") {
        fmt::print("evidence  predicted by a machine model: nothing of it was measured; gains are over what was "
                   "fastest on the most nodes that were; exports need --accept predicted\n");
    }
    for (auto const& [memory, backend] : table.policy.baseline) {
        fmt::print("without a rule on {} memory: {}\n", memory, backend);
    }
}

void print_scope(std::string const& scope, std::vector<Rule> const& rules) {
    std::vector<TextRow> rows{heading};
    for (Rule const& rule : rules) {
        if (rule.scope == scope) {
            rows.push_back(row_of(rule));
        }
    }
    fmt::print("\n{}\n{}", scope == select_scope ? "which backend" : fmt::format("which method of {}", scope),
               columns_text(rows));
}

class Show {
public:
    void add_options(CLI::App& parser) { parser.add_option("TABLE", path_, "tuning table (JSON)")->required(); }
    [[nodiscard]] int run() {
        TuningTable const table = read_table(path_);
        print_head(table);
        std::vector<std::string> scopes;
        for (Rule const& rule : table.rules) {
            scopes.push_back(rule.scope);
        }
        scopes.erase(std::unique(scopes.begin(), scopes.end()), scopes.end());  // rules are sorted by scope
        std::stable_partition(scopes.begin(), scopes.end(),
                              [](std::string const& scope) { return scope == select_scope; });
        for (std::string const& scope : scopes) {
            print_scope(scope, table.rules);
        }
        return exit_ok;
    }

private:
    std::string path_;
};

}  // namespace

void add_show(CLI::App& tune, int& exit_code) {
    add_command<Show>(tune, "show", "who wins where, and how that is known", exit_code);
}

}  // namespace dlmb::tuning::commands
