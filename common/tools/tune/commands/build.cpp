// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune build RESULTS... -o TABLE: rules from the results of several launches.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/number_checks.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/version.hpp"
#include "common/formats/table/provenance.hpp"
#include "common/formats/table/table_file.hpp"
#include "common/tools/tune/build/build_table.hpp"
#include "common/tools/tune/commands/measurements.hpp"
#include "common/tools/tune/commands/run_tune.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace dlmb::tuning::commands {
namespace {

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
        accept_.add_to(parser);
        parser
            .add_option("--min-gain", min_gain_, "smallest gain that is worth a rule, as a share of the default's time")
            ->check(number_check(0, 1));
        parser.add_option("--baseline", baseline_, "backend that runs what has no rule")->capture_default_str();
        parser.add_option("--next-confirm", confirm_sweep_, "write a sweep file that measures the winners again");
        parser.add_option("--next-repeat", repeat_sweep_,
                          "write a sweep file that measures undecided sizes again, for RESULTS");
        parser.add_option("--next-refine", refine_sweep_,
                          "write a sweep file that measures between neighbouring sizes with different winners");
    }

    [[nodiscard]] int run() {
        tuning::Accepted const accepted = accept_.checked();
        report_ = printed_beside({table_path_, confirm_sweep_, repeat_sweep_, refine_sweep_});
        tuning::Observations search(accepted);
        tuning::Observations confirm(accepted);
        tuning::TuningTable table;
        table.inputs = read_results(results_, search, record::Converted::read);
        std::vector<tuning::Input> const fresh = read_results(confirm_, confirm);
        table.inputs.insert(table.inputs.end(), fresh.begin(), fresh.end());
        if (!confirm_.empty() && confirm.system().key != search.system().key) {
            throw UsageError(
                fmt::format("--confirm: these launches ran on another system ({})",
                            tuning::system_differences(confirm.system().identity, search.system().identity)));
        }
        if (!confirm.timing().empty() && confirm.timing() != search.timing()) {
            throw UsageError(fmt::format("--confirm: these launches are of --timing {}, RESULTS of {}",
                                         confirm.timing(), search.timing()));
        }
        if (confirm.cache() && search.cache() && confirm.cache() != search.cache()) {
            throw UsageError("--confirm: these launches are of another --cache");
        }
        if (std::string const other = tuning::other_version(confirm.stack().versions, search.stack().versions);
            !other.empty()) {
            throw UsageError(fmt::format("--confirm: these launches ran with {}", other));
        }
        if (!search.foreign_definition().empty()) {
            require_nothing_of_launches();
        }
        for (tuning::Observation const& seen : search.kept()) {
            policy_.baseline[seen.conditions.memory] = baseline_;
        }
        if (min_gain_ >= 0) {
            policy_.min_gain_small = policy_.min_gain_large = min_gain_;
        }
        tuning::Built const built = build_rules(search.kept(), confirm.kept(), policy_, accept_.has("unconfirmed"));
        fill_in(table, search, built);
        print_refused(search, report_);
        print_summary(built);
        if (!table.rules.empty()) {
            write_table(table_path_, table);
            print_to(report_, fmt::format("table     {}\n", table_path_));
        }
        write_next(built, search, table.policy.cache);
        if (table.rules.empty()) {
            throw UsageError(
                search.acceptable().empty()
                    ? "no rule: nothing of these results can carry one; the reasons are above"
                    : fmt::format("no rule: nothing of these results can carry one as it is; --accept {} lets {} cells "
                                  "pass",
                                  fmt::join(search.acceptable(), ","), search.acceptable_cells()));
        }
        return exit_ok;
    }

private:
    /// Converted results are decided as they are: there are no launches to repeat, and none confirms them.
    void require_nothing_of_launches() const {
        if (!confirm_.empty() || !confirm_sweep_.empty() || !repeat_sweep_.empty() || !refine_sweep_.empty()) {
            throw UsageError(
                "--confirm and --next-* are for launches of DLMB, and these results are converted; measure "
                "on the system itself for a table that is confirmed");
        }
    }

    void fill_in(tuning::TuningTable& table, tuning::Observations const& search, tuning::Built const& built) const {
        BuildInfo const& info = build_info();
        table.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
        table.tool = {"dlmb_tune", std::string(info.version), std::string(info.git_revision)};
        table.system = search.system();
        table.stack = search.stack();
        table.policy = policy_;
        if (search.timing() == tuning::stream_timing) {
            table.policy.metric = tuning::stream_metric;
        }
        if (search.cache()) {
            table.policy.cache = name_of(*search.cache());
        }
        bool const confirms = !confirm_.empty() && !accept_.has("unconfirmed");
        table.policy.confirm_launches = confirms ? policy_.confirm_launches : 0;  // 0: readers do not ask for it
        if (!search.foreign_definition().empty()) {
            table.policy.metric = search.foreign_definition();
            table.policy.launches = 1;
            table.policy.fdr_q = 1;  // nothing is tested
        }
        table.rules = built.rules;
    }

    void print_undecided(tuning::Series const& series, tuning::Point const& point) const {
        if (point.decision.outcome != tuning::Outcome::undecided) {
            return;
        }
        tuning::Evidence const& evidence = *point.decision.evidence;
        print_to(report_,
                 fmt::format("undecided {} {} of {} bytes, {} ranks: {} by {:.1f} % in {} launches\n", series.scope,
                             name_of(series.conditions.operation), point.bytes, series.conditions.ranks,
                             point.decision.winner->method, 100 * evidence.gain, evidence.launches));
    }

    void print_summary(tuning::Built const& built) const {
        std::map<tuning::Outcome, std::size_t> count;
        for (tuning::Series const& series : built.series) {
            for (tuning::Point const& point : series.points) {
                ++count[point.decision.outcome];
                print_undecided(series, point);
            }
        }
        print_to(report_, fmt::format("sizes     {} better than the default, {} await confirmation, {} undecided, {} "
                                      "ties, {} where the default "
                                      "is best\n",
                                      count[tuning::Outcome::chosen], count[tuning::Outcome::unconfirmed],
                                      count[tuning::Outcome::undecided], count[tuning::Outcome::tie],
                                      count[tuning::Outcome::no_gain]));
        auto const chosen = std::count_if(built.rules.begin(), built.rules.end(), [](tuning::Rule const& rule) {
            return rule.status == tuning::RuleStatus::chosen;
        });
        if (count[tuning::Outcome::foreign] > 0) {
            print_to(report_,
                     fmt::format(
                         "          {} where foreign numbers are better than the default's, which nothing confirms\n",
                         count[tuning::Outcome::foreign]));
        }
        print_to(report_, fmt::format("rules     {}, of which {} leave the default\n", built.rules.size(), chosen));
    }

    void write_next(tuning::Built const& built, tuning::Observations const& search, std::string const& cache) const {
        tuning::NextLaunches const how{policy_.launches, search.timing(), cache, search.time_limit()};
        tuning::NextLaunches fresh = how;
        fresh.launches = policy_.confirm_launches;
        write_sweep(confirm_sweep_, winners_again(built, tuning::Outcome::unconfirmed), fresh, report_);
        write_sweep(repeat_sweep_, winners_again(built, tuning::Outcome::undecided), how, report_);
        write_sweep(refine_sweep_, refinements(built, policy_, accept_.has("unconfirmed")), how, report_);
    }

    std::vector<std::string> results_;
    std::vector<std::string> confirm_;
    AcceptOptions accept_;
    std::string table_path_;
    std::string confirm_sweep_;
    std::string repeat_sweep_;
    std::string refine_sweep_;
    std::string baseline_ = "mpi";
    tuning::Policy policy_;
    double min_gain_ = -1;
    PrintedTo report_ = PrintedTo::output;
};

}  // namespace

void add_build(CLI::App& tune, int& exit_code) {
    add_command<Build>(tune, "build", "rules from the results of several launches", exit_code);
}

}  // namespace dlmb::tuning::commands
