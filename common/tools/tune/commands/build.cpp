// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune build RESULTS... -o TABLE: rules from the results of several launches.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/number_checks.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/base/version.hpp"
#include "common/formats/record/result_file.hpp"
#include "common/formats/table/provenance.hpp"
#include "common/formats/table/table_file.hpp"
#include "common/tools/tune/build/build_table.hpp"
#include "common/tools/tune/commands/run_tune.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

namespace dlmb::tuning::commands {
namespace {

namespace fs = std::filesystem;

/// Files as they are, and those of folders sorted.
std::vector<fs::path> result_files(std::vector<std::string> const& arguments) {
    std::vector<fs::path> files;
    for (std::string const& argument : arguments) {
        if (!fs::is_directory(argument)) {
            files.emplace_back(argument);
            continue;
        }
        std::set<fs::path> inside;
        for (fs::directory_entry const& entry : fs::directory_iterator(argument)) {
            if (entry.path().extension() == ".jsonl") {
                inside.insert(entry.path());
            }
        }
        if (inside.empty()) {
            throw UsageError(fmt::format("{}: no result files (*.jsonl) in this folder", argument));
        }
        files.insert(files.end(), inside.begin(), inside.end());
    }
    return files;
}

/// Says on standard error what a file lacks.
std::vector<ResultFileInput> read_results(std::vector<std::string> const& arguments, Observations& observations,
                                          record::Converted converted) {
    std::vector<ResultFileInput> inputs;
    for (fs::path const& path : result_files(arguments)) {
        ResultFileInput input{path.filename().string(), sha256_of_file(path), {}};
        record::ResultFile const file = record::read_results(path, converted);
        for (std::string const& remark : file.remarks) {
            print_error(fmt::format("dlmb_tune: {}: {}\n", path.string(), remark));
        }
        observations.add(file, path.string());
        for (record::Launch const& launch : file.launches) {
            input.launches.push_back(launch.launch_id);
        }
        inputs.push_back(std::move(input));
    }
    return inputs;
}

/// A launch cannot confirm what was found in it.
void require_fresh(std::vector<ResultFileInput> const& confirm, std::vector<ResultFileInput> const& search) {
    std::set<std::string> known;
    for (ResultFileInput const& input : search) {
        known.insert(input.launches.begin(), input.launches.end());
    }
    for (ResultFileInput const& input : confirm) {
        for (std::string const& launch : input.launches) {
            if (known.contains(launch)) {
                throw UsageError(
                    fmt::format("--confirm: {}: launch {} is among RESULTS, too; give launches that are in "
                                "one of them",
                                input.file, launch));
            }
        }
    }
}

class Build {
public:
    void add_options(CLI::App& parser) {
        parser
            .add_option("RESULTS", results_,
                        "result files or folders of dlmb_collective, launched several times; or of dlmb_convert, whose "
                        "evidence is foreign: nothing of it is confirmed")
            ->required();
        parser.add_option("-o,--output", table_path_, "the table to write; - is standard output")->required();
        parser.add_option("--confirm", confirm_, "results of fresh launches, which decide whether a winner is one");
        parser.add_option("--launches", policy_.launches, "launches that a winner and the default need")
            ->check(whole_number_check)
            ->capture_default_str();
        parser
            .add_option("--timing", timing_,
                        "cells that count: isolated calls, or stream, back to back [the one that all cells are of]")
            ->check(CLI::IsMember({isolated_timing, stream_timing}));
        parser.add_option("--beside", beside_,
                          "cells that count: beside no load (none), or beside compute, memory or traffic:NAME [the one "
                          "that all cells are of]; the table says it");
        parser
            .add_option("--methods", methods_,
                        "methods that compete with the default, without knobs [all]; 'algorithm' for a table that is "
                        "to be exported to an MPI library")
            ->delimiter(',');
        parser
            .add_option("--accept", accept_,
                        "let pass what weakens a table: oversubscribed, quick (under six rounds), unconfirmed")
            ->delimiter(',')
            ->check(CLI::IsMember({"oversubscribed", "quick", "unconfirmed"}));
        parser
            .add_option("--min-gain", min_gain_, "smallest gain that is worth a rule, as a share of the default's time")
            ->check(number_check(0, 1));
        parser.add_option("--baseline", baseline_, "backend that runs what has no rule")
            ->check(CLI::IsMember(std::vector<std::string>(backend_words.begin(), backend_words.end())))
            ->capture_default_str();
    }

    [[nodiscard]] int run() {
        Accepted const accepted{accepts("oversubscribed"), accepts("quick"), timing_, methods_, beside_};
        report_ = printed_beside({table_path_});
        Observations search(accepted);
        Observations confirm(accepted);
        TuningTable table;
        table.inputs = read_results(results_, search, record::Converted::read);
        std::vector<ResultFileInput> const fresh = read_results(confirm_, confirm, record::Converted::refused);
        require_fresh(fresh, table.inputs);
        table.inputs.insert(table.inputs.end(), fresh.begin(), fresh.end());
        require_comparable(confirm, search);
        for (Observation const& seen : search.kept()) {
            policy_.baseline[seen.key.memory] = baseline_;
        }
        if (min_gain_ >= 0) {
            policy_.min_gain_small = policy_.min_gain_large = min_gain_;
        }
        Built const built = build_rules(search.kept(), confirm.kept(), policy_, accepts("unconfirmed"));
        fill_in(table, search, built);
        print_refused("cells", search);
        if (!confirm_.empty()) {
            print_refused("confirm", confirm);
        }
        print_summary(built);
        if (table.rules.empty()) {
            throw UsageError(
                search.acceptable().empty()
                    ? "no rule: nothing of these results can carry one; the reasons are above"
                    : fmt::format("no rule: nothing of these results can carry one as it is; --accept {} lets {} cells "
                                  "pass",
                                  fmt::join(search.acceptable(), ","), search.acceptable_cells()));
        }
        write_table(table_path_, table);
        print_to(report_, fmt::format("table     {}\n", table_path_));
        return exit_ok;
    }

private:
    [[nodiscard]] bool accepts(std::string_view word) const {
        return std::find(accept_.begin(), accept_.end(), word) != accept_.end();
    }

    /// Fresh launches confirm only what was found alike.
    void require_comparable(Observations const& confirm, Observations const& search) const {
        if (confirm_.empty()) {
            return;
        }
        if (!search.foreign_definition().empty()) {
            throw UsageError(
                "--confirm is for launches of DLMB, and these results are converted; measure on the system itself for "
                "a table that is confirmed");
        }
        if (confirm.system().key != search.system().key) {
            throw UsageError(fmt::format("--confirm: these launches ran on another system ({})",
                                         system_differences(confirm.system().identity, search.system().identity)));
        }
        if (std::string const other = difference(confirm.conditions(), search.conditions()); !other.empty()) {
            throw UsageError(fmt::format("--confirm: these launches are of {} like RESULTS", other));
        }
    }

    void fill_in(TuningTable& table, Observations const& search, Built const& built) const {
        BuildInfo const& info = build_info();
        table.created = record::utc_now();
        table.tool = {"dlmb_tune", std::string(info.version), std::string(info.git_revision)};
        table.system = search.system();
        table.stack = search.stack();
        table.policy = policy_;
        Conditions const& conditions = search.conditions();
        if (conditions.timing == stream_timing) {
            table.policy.metric = stream_metric;
        }
        if (conditions.cache) {
            table.policy.cache = name_of(*conditions.cache);
        }
        if (conditions.beside && *conditions.beside != "none") {
            table.policy.beside = *conditions.beside;
        }
        bool const confirms = !confirm_.empty() && !accepts("unconfirmed");
        table.policy.confirm_launches = confirms ? policy_.confirm_launches : 0;  // 0: readers do not ask for it
        if (!search.foreign_definition().empty()) {
            table.policy.metric = search.foreign_definition();
            table.policy.launches = 1;
            table.policy.fdr_q = 1;  // nothing is tested
        }
        table.rules = built.rules;
    }

    void print_refused(char const* what, Observations const& observations) const {
        print_to(report_, fmt::format("{:<9} {} of {} used\n", what, observations.kept().size(), observations.cells()));
        for (auto const& [reason, count] : observations.refused()) {
            print_to(report_, fmt::format("  {} not: {}\n", count, reason));
        }
        if (std::uint64_t const alone = without_default(observations.kept()); alone > 0) {
            print_to(report_, fmt::format("  {} of those decide nothing: the default of the same launch, backend and "
                                          "size is missing\n",
                                          alone));
        }
    }

    void print_summary(Built const& built) const {
        std::map<Outcome, std::size_t> count;
        for (Series const& series : built.series) {
            for (auto const& [bytes, decision] : series.points) {
                ++count[decision.outcome];
                if (decision.outcome == Outcome::undecided) {
                    print_to(report_,
                             fmt::format("undecided {} {} of {} bytes, {} ranks: {} by {:.1f} % in {} launches\n",
                                         series.scope, name_of(series.key.operation), bytes, *series.key.ranks,
                                         decision.winner->method, 100 * decision.evidence->gain,
                                         decision.evidence->launches));
                }
            }
        }
        print_to(report_, fmt::format("sizes     {} better than the default, {} await confirmation, {} undecided, {} "
                                      "ties, {} where the default is best\n",
                                      count[Outcome::chosen], count[Outcome::unconfirmed], count[Outcome::undecided],
                                      count[Outcome::tie], count[Outcome::no_gain]));
        if (count[Outcome::foreign] > 0) {
            print_to(report_, fmt::format("          {} where foreign numbers are better than the default's, which "
                                          "nothing confirms\n",
                                          count[Outcome::foreign]));
        }
        auto const chosen = std::count_if(built.rules.begin(), built.rules.end(),
                                          [](Rule const& rule) { return rule.status == RuleStatus::chosen; });
        print_to(report_, fmt::format("rules     {}, of which {} leave the default\n", built.rules.size(), chosen));
    }

    std::vector<std::string> results_;
    std::vector<std::string> confirm_;
    std::string table_path_;
    std::string timing_;  // empty: the one of all cells
    std::string beside_;  // likewise
    std::vector<std::string> methods_;
    std::vector<std::string> accept_;
    std::string baseline_ = "mpi";
    Policy policy_;
    double min_gain_ = -1;
    PrintedTo report_ = PrintedTo::output;
};

}  // namespace

void add_build(CLI::App& tune, int& exit_code) {
    add_command<Build>(tune, "build", "rules from the results of several launches", exit_code);
}

}  // namespace dlmb::tuning::commands
