// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune lookup TABLE --operation OPERATION ...: what a reader would be told.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/number_checks.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/formats/table/query.hpp"
#include "common/formats/table/table_file.hpp"
#include "common/tools/tune/commands/run_tune.hpp"
#include "common/tools/tune/commands/table_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <optional>
#include <utility>

namespace dlmb::tuning::commands {
namespace {

std::vector<std::string> operation_names() {
    std::vector<std::string> names;
    for (TunedOperation const operation : every_tuned_operation) {
        names.emplace_back(name_of(operation));
    }
    return names;
}

/// Conditions of a rule that a question does not fulfil, as texts: "ranks 4 to 8, not 2".
class Unmet {
public:
    Unmet(When const& when, Key const& key) {
        interval("bytes", when.bytes, key.bytes);
        interval("ranks", when.ranks, key.ranks);
        interval("nodes", when.nodes, key.nodes);
        word("memory", when.memory, key.memory);
        word("element", when.dtype, key.dtype);
        word("reduction", when.reduction, key.reduction);
        flag("in-place", when.in_place, key.in_place);
        flag("uniform", when.uniform, key.uniform);
        interval("imbalance", when.imbalance, key.imbalance);
    }
    std::vector<std::string> texts;
    double far = 0;  // of the first interval that is missed, how many times too large or small

private:
    void add(std::string const& wants, std::string const& given) {
        texts.push_back(wants + (given.empty() ? ", which is not given" : ", not " + given));
    }
    template <class Number>
    void interval(char const* name, std::optional<Interval<Number>> const& wanted, std::optional<Number> const& given) {
        if (!wanted || (given && wanted->contains(*given))) {
            return;
        }
        std::string const range = wanted->min == wanted->max ? fmt::format("{}", wanted->min)
                                  : wanted->max == std::numeric_limits<Number>::max()
                                      ? fmt::format("from {}", wanted->min)
                                      : fmt::format("{} to {}", wanted->min, wanted->max);
        add(fmt::format("{} {}", name, range), given ? fmt::format("{}", *given) : "");
        auto const ratio = [](auto large, auto small) {
            return (static_cast<double>(large) + 1) / (static_cast<double>(small) + 1);
        };
        if (given && far == 0) {
            far = *given < wanted->min ? ratio(wanted->min, *given) : ratio(*given, wanted->max);
        }
    }
    void word(char const* name, std::string const& wanted, std::string const& given) {
        if (!wanted.empty() && wanted != given) {
            add(fmt::format("{} {}", name, wanted), given);
        }
    }
    void flag(char const* name, std::optional<bool> const& wanted, std::optional<bool> const& given) {
        if (wanted && wanted != given) {
            add(fmt::format("{} {}", name, *wanted), given ? fmt::format("{}", *given) : "");
        }
    }
};

/// The rule for this operation, in the scope that was asked, that misses the fewest conditions; empty: there is none.
std::string nearest_rule(TuningTable const& table, Key const& key, std::string_view scope) {
    Rule const* nearest = nullptr;
    std::optional<Unmet> least;
    for (Rule const& rule : table.rules) {
        if (rule.when.operation != key.operation || rule.scope != scope) {
            continue;
        }
        Unmet unmet(rule.when, key);
        if (!least || std::pair(unmet.texts.size(), unmet.far) < std::pair(least->texts.size(), least->far)) {
            nearest = &rule;
            least = std::move(unmet);
        }
    }
    return nearest == nullptr ? "" : fmt::format("{} asks for {}", nearest->id, fmt::join(least->texts, "; "));
}

constexpr double most_imbalance = 1e9;

class Lookup {
public:
    void add_options(CLI::App& parser) {
        parser.add_option("TABLE", path_, "tuning table (JSON)")->required();
        parser
            .add_option("--operation", operation_,
                        "allreduce, reduce_scatter, allgather, broadcast, exchange, sendrecv")
            ->required();
        parser
            .add_option("--bytes", bytes_,
                        "size: allreduce, broadcast: vector on one rank; allgather: result; "
                        "reduce_scatter: input; exchange: sent by one rank; sendrecv: message")
            ->required();
        parser.add_option("--backend", backend_, "choose a method of this backend [the table selects one]");
        parser.add_option("--ranks", key_.ranks, "ranks of the communicator")->check(whole_number_check);
        parser.add_option("--nodes", key_.nodes, "nodes of the communicator")->check(whole_number_check);
        parser.add_option("--memory", key_.memory, fmt::format("{}", fmt::join(memory_words, ", ")));
        parser.add_option("--element", element_, "element type: " + std::string{element_names});
        parser.add_option("--reduction", key_.reduction, fmt::format("{}", fmt::join(reduction_words, ", ")));
        parser
            .add_option("--imbalance", key_.imbalance,
                        "exchange: largest total that a rank sends or receives / mean over ranks")
            ->check(number_check(0, most_imbalance));
        parser.add_option("--uniform", key_.uniform, "exchange, all blocks are equal: true, false");
        parser.add_option("--in-place", key_.in_place, "true, false");
        parser.footer("What is not given is unknown, and matches only rules that do not ask for it.");
    }

    [[nodiscard]] int run() {
        read_words();
        TuningTable const table = read_table(path_);
        require_known_words(table);
        auto const baseline = table.policy.baseline.find(key_.memory);
        if (Match const match = lookup(table, key_, backend_)) {
            print(match);
        } else if (!backend_.empty() || baseline == table.policy.baseline.end()) {
            print_default(table, backend_);
        } else if (Match const own = lookup(table, key_, baseline->second)) {  // as backend tuned
            print(own);
        } else {
            print_default(table, baseline->second);
        }
        return exit_ok;
    }

private:
    void read_words() {
        auto const operation = operation_named(operation_);
        if (!operation) {
            throw UsageError(fmt::format("--operation: {}", unknown_name("operation", operation_, operation_names())));
        }
        auto const element = element_named(element_);
        if (!element && !element_.empty()) {
            throw UsageError(fmt::format("--element: '{}' is none of {}", element_, element_names));
        }
        if (key_.ranks == 0U || key_.nodes == 0U) {
            throw UsageError(
                fmt::format("--{} 0: a communicator has at least one", key_.ranks == 0U ? "ranks" : "nodes"));
        }
        if (key_.ranks && key_.nodes && *key_.nodes > *key_.ranks) {
            throw UsageError(fmt::format("--nodes {}: more than the {} of --ranks", *key_.nodes, *key_.ranks));
        }
        key_.operation = *operation;
        key_.bytes = parse_bytes(bytes_, "--bytes");
        key_.dtype = element ? name_of(*element) : std::string_view{};
    }

    void require_known_words(TuningTable const& table) const {
        if (UnknownWord const unknown = unknown_word(table, key_, backend_)) {
            std::vector<std::string> const known(unknown.known.begin(), unknown.known.end());
            throw UsageError(fmt::format("--{}: {}", unknown.key, unknown_name(unknown.key, unknown.word, known)));
        }
    }

    static void print(Match const& match) {
        Rule const& rule = *match.deciding();
        fmt::print("backend  {}\n", rule.choose.backend);
        fmt::print("method   {}\n", method_text(rule.choose));
        fmt::print("status   {}\n", name_of(rule.status));
        fmt::print("rule     {}{}\n", rule.id,
                   match.select != nullptr ? fmt::format(" (backend selected by {})", match.select->id) : "");
        fmt::print("gain     {}\n", gain_text(rule));
        fmt::print("evidence {}\n", evidence_text(rule));
    }

    /// `backend`: may be empty, where the table has no baseline for this memory.
    void print_default(TuningTable const& table, std::string const& backend) const {
        if (!backend.empty()) {
            fmt::print("backend  {}\n", backend);
        }
        fmt::print("method   default\nrule     none matches\n");
        std::string const scope = backend_.empty() ? select_scope : backend_;
        std::string nearest = nearest_rule(table, key_, scope);
        if (nearest.empty()) {
            nearest = nearest_rule(table, key_, backend);
        }
        fmt::print("nearest  {}\n",
                   nearest.empty() ? fmt::format("no rule here is of {} in scope {}", operation_, scope) : nearest);
    }

    std::string path_, operation_, bytes_, backend_, element_;
    Key key_;
};

}  // namespace

void add_lookup(CLI::App& tune, int& exit_code) {
    add_command<Lookup>(tune, "lookup", "what the table says about one operation", exit_code);
}

}  // namespace dlmb::tuning::commands
