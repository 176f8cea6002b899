// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune build RESULTS... -o TABLE: rules from the results of several launches.
#include "common/app/reporter.hpp"
#include "common/app/tune/command.hpp"
#include "common/base/suggest.hpp"
#include "common/base/version.hpp"
#include "common/record/result_reader.hpp"
#include "common/tuning/build/next_sweep.hpp"
#include "common/tuning/build/observe.hpp"
#include "common/tuning/provenance/digest.hpp"
#include "common/tuning/write_table.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

namespace dlmb::app::tune {
namespace {

namespace fs = std::filesystem;

/// Files as they are, and those of folders that end in .jsonl, sorted.
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

void write_text(std::string const& path, std::string const& text) {
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) {
        throw OutputError(fmt::format("{}: cannot be written", path));
    }
}

class Build final : public Command {
public:
    [[nodiscard]] std::string description() const override { return "rules from the results of several launches"; }

    void add_options(CLI::App& parser) override {
        parser.add_option("RESULTS", results_, "result files or folders of dlmb_collective, launched several times")
            ->required();
        parser.add_option("-o,--output", table_path_, "the table to write")->required();
        parser.add_option("--confirm", confirm_, "results of fresh launches, which decide whether a winner is one");
        parser.add_option("--launches", policy_.launches, "launches that a winner and the default need")
            ->capture_default_str();
        parser.add_option("--timing", timing_, "cells that count: isolated calls, or stream, back to back")
            ->check(CLI::IsMember({"isolated", "stream"}))
            ->capture_default_str();
        parser.add_option("--min-gain", min_gain_, "share of the default's time below which nothing is chosen");
        parser.add_option("--baseline", baseline_, "backend that runs what has no rule")->capture_default_str();
        parser
            .add_option("--accept", accept_,
                        "let pass what weakens a table: oversubscribed, quick (under six rounds), unconfirmed")
            ->delimiter(',');
        parser.add_option("--next-confirm", confirm_sweep_, "write a sweep file that measures the winners again");
        parser.add_option("--next-refine", refine_sweep_, "write a sweep file that measures between sizes that differ");
    }

    [[nodiscard]] int run() override {
        tuning::Accepted const accepted = read_accepted();
        tuning::Observations search(accepted);
        tuning::Observations confirm(accepted);
        tuning::TuningTable table;
        read(results_, search, table);
        read(confirm_, confirm, table);
        if (!confirm_.empty() && confirm.system().key != search.system().key) {
            throw UsageError("--confirm: these launches ran on another system");
        }
        for (tuning::Observation const& seen : search.kept()) {
            policy_.baseline[seen.place.memory] = baseline_;
        }
        if (min_gain_ >= 0) {
            policy_.min_gain_small = policy_.min_gain_large = min_gain_;
        }
        tuning::Built const built = build_rules(search.kept(), confirm.kept(), policy_, unconfirmed_);
        fill_in(table, search, built);
        print_refused(search);
        print_summary(built);
        if (!table.rules.empty()) {
            write_table(table_path_, table);
            fmt::print("table     {}\n", table_path_);
        }
        write_next(built);
        if (table.rules.empty()) {
            throw UsageError("no rule: nothing of these results can carry one; the reasons are above");
        }
        return exit_ok;
    }

private:
    tuning::Accepted read_accepted() {
        static std::vector<std::string> const known{"oversubscribed", "quick", "unconfirmed"};
        for (std::string const& word : accept_) {
            if (std::find(known.begin(), known.end(), word) == known.end()) {
                throw UsageError(fmt::format("--accept: {}", unknown_name("accept", word, known)));
            }
        }
        auto const has = [&](char const* word) {
            return std::find(accept_.begin(), accept_.end(), word) != accept_.end();
        };
        unconfirmed_ = has("unconfirmed");
        return {has("oversubscribed"), has("quick"), timing_};
    }

    static void read(std::vector<std::string> const& arguments, tuning::Observations& observations,
                     tuning::TuningTable& table) {
        for (fs::path const& path : result_files(arguments)) {
            record::ResultFile const file = record::read_results(path);
            for (std::string const& remark : file.remarks) {
                fmt::print(stderr, "dlmb_tune: {}: {}\n", path.string(), remark);
            }
            observations.add(file, path.string());
            tuning::Input input{path.filename().string(), tuning::sha256_of_file(path), {}};
            for (record::Launch const& launch : file.launches) {
                input.launches.push_back(launch.launch_id);
            }
            table.inputs.push_back(std::move(input));
        }
    }

    void fill_in(tuning::TuningTable& table, tuning::Observations const& search, tuning::Built const& built) const {
        BuildInfo const& info = build_info();
        table.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
        table.tool = {"dlmb_tune", std::string(info.version), std::string(info.git_revision)};
        table.system = search.system();
        table.stack = search.stack();
        table.policy = policy_;
        if (timing_ == "stream") {
            table.policy.metric = "median time of a call among calls back to back";
        }
        table.policy.confirm_launches = confirm_.empty() ? 0 : policy_.confirm_launches;
        table.rules = built.rules;
    }

    static void print_refused(tuning::Observations const& observations) {
        std::uint64_t const kept = observations.kept().size();
        fmt::print("cells     {} of {} used\n", kept, observations.cells());
        for (auto const& [reason, count] : observations.refused()) {
            fmt::print("  {} not: {}\n", count, reason);
        }
    }

    static void print_summary(tuning::Built const& built) {
        std::map<tuning::Standing, std::size_t> count;
        for (tuning::Series const& series : built.series) {
            for (tuning::Point const& point : series.points) {
                ++count[point.decision.standing];
            }
        }
        fmt::print(
            "sizes     {} better than the default, {} await confirmation, {} ties, {} where the default is best\n",
            count[tuning::Standing::chosen], count[tuning::Standing::unconfirmed], count[tuning::Standing::tie],
            count[tuning::Standing::no_gain]);
        auto const chosen = std::count_if(built.rules.begin(), built.rules.end(), [](tuning::Rule const& rule) {
            return rule.status == tuning::RuleStatus::chosen;
        });
        fmt::print("rules     {}, of which {} leave the default\n", built.rules.size(), chosen);
    }

    void write_next(tuning::Built const& built) const {
        write_sweep(confirm_sweep_, "tuning-confirm", tuning::confirmations(built), policy_.confirm_launches);
        write_sweep(refine_sweep_, "tuning-refine", tuning::refinements(built, policy_, unconfirmed_),
                    policy_.launches);
    }

    void write_sweep(std::string const& path, char const* name, std::vector<tuning::NextJob> const& jobs,
                     std::uint64_t launches) const {
        if (path.empty()) {
            return;
        }
        if (jobs.empty()) {
            fmt::print("{}: nothing is left to measure; not written\n", path);
            return;
        }
        write_text(path, tuning::sweep_file(name, jobs, launches, timing_));
        fmt::print("next      launch/dlmb_sweep {}\n", path);
    }

    std::vector<std::string> results_;
    std::vector<std::string> confirm_;
    std::vector<std::string> accept_;
    std::string timing_ = "isolated";
    std::string table_path_;
    std::string confirm_sweep_;
    std::string refine_sweep_;
    std::string baseline_ = "mpi";
    tuning::Policy policy_;
    double min_gain_ = -1;
    bool unconfirmed_ = false;
};

}  // namespace

std::unique_ptr<Command> make_build() {
    return std::make_unique<Build>();
}

}  // namespace dlmb::app::tune
