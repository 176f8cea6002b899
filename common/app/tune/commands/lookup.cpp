// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune lookup TABLE --operation OPERATION ...: what a reader would be told.
#include "common/app/exit_codes.hpp"
#include "common/app/options/number_checks.hpp"
#include "common/app/subcommands.hpp"
#include "common/app/tune/run_tune.hpp"
#include "common/app/tune/table_text.hpp"
#include "common/base/error.hpp"
#include "common/plan/plan.hpp"
#include "common/tuning/query.hpp"
#include "common/tuning/table_file.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::app::tune {
namespace {

std::vector<std::string> operation_names() {
    std::vector<std::string> names;
    for (tuning::TunedOperation const operation : tuning::every_tuned_operation) {
        names.emplace_back(name_of(operation));
    }
    return names;
}

/// Refuses a word that no table can hold: it would silently match nothing.
template <class Words>
void require_word(std::string const& word, std::string_view option, Words const& words) {
    if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) {
        std::vector<std::string> const known(words.begin(), words.end());
        throw UsageError(fmt::format("--{}: {}", option, unknown_name(option, word, known)));
    }
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
        parser.add_option("--backend", backend_, "choose a method of this one (default: the table selects one)");
        parser.add_option("--ranks", query_.ranks, "ranks of the communicator")->check(whole_number_check);
        parser.add_option("--nodes", query_.nodes, "nodes that it lies on")->check(whole_number_check);
        parser.add_option("--memory", memory_, "host, pinned, cuda, managed, nccl, rocm");
        parser.add_option("--element", element_, "element type: " + std::string{element_names});
        parser.add_option("--reduction", reduction_, "sum, prod, min, max, user");
        parser
            .add_option("--imbalance", query_.imbalance,
                        "exchange: largest total that a rank sends or receives / mean over ranks")
            ->check(number_check(0, most_imbalance));
        parser.add_option("--uniform", query_.uniform, "exchange, all blocks are equal: true, false");
        parser.add_option("--in-place", query_.in_place, "true, false");
        parser.footer("What is not given is unknown, and matches only rules that do not ask for it.");
    }

    [[nodiscard]] int run() {
        read_words();
        tuning::TuningTable const table = tuning::read_table(path_);
        tuning::Match const match = lookup(table, query_);
        if (match) {
            print(match);
        } else {
            print_default(table);
        }
        return exit_ok;
    }

private:
    void read_words() {
        std::vector<std::string> const operations = operation_names();
        require_word(operation_, "operation", operations);
        require_word(memory_, "memory", tuning::memory_words);
        require_word(reduction_, "reduction", tuning::reduction_words);
        auto const element = element_named(element_);
        if (!element && !element_.empty()) {
            throw UsageError(fmt::format("--element: '{}' is none of {}", element_, element_names));
        }
        query_.operation = *tuning::operation_named(operation_);
        query_.bytes = parse_bytes(bytes_, "--bytes");
        query_.backend = backend_;
        query_.memory = memory_;
        query_.reduction = reduction_;
        query_.dtype = element ? name_of(*element) : std::string_view{};
    }

    static void print(tuning::Match const& match) {
        tuning::Rule const& rule = *match.deciding();
        fmt::print("backend  {}\n", rule.choose.backend);
        fmt::print("method   {}\n", method_text(rule.choose));
        fmt::print("status   {}\n", name_of(rule.status));
        fmt::print("rule     {}{}\n", rule.id,
                   match.select != nullptr ? fmt::format(" (backend selected by {})", match.select->id) : "");
        fmt::print("gain     {}\n", gain_text(rule));
        fmt::print("evidence {}\n", evidence_text(rule));
    }

    void print_default(tuning::TuningTable const& table) const {
        auto const baseline = table.policy.baseline.find(memory_);
        if (!backend_.empty()) {
            fmt::print("backend  {}\n", backend_);
        } else if (baseline != table.policy.baseline.end()) {
            fmt::print("backend  {}\n", baseline->second);
        }
        fmt::print("method   default\nrule     none matches\n");
    }

    std::string path_, operation_, bytes_, backend_, memory_, element_, reduction_;
    tuning::Query query_;  // its texts are those above
};

}  // namespace

void add_lookup(CLI::App& tune, int& exit_code) {
    add_command<Lookup>(tune, "lookup", "what the table says about one operation", exit_code);
}

}  // namespace dlmb::app::tune
