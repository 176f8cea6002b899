// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune gain TABLE --measured RESULTS | --traffic PLAN: what a table gains.
#include "common/tools/tune/gain/gain.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/formats/table/provenance.hpp"
#include "common/formats/table/table_file.hpp"
#include "common/tools/tune/commands/measurements.hpp"
#include "common/tools/tune/commands/run_tune.hpp"
#include "common/tools/tune/commands/table_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace dlmb::tuning::commands {
namespace {

Row gain_row(tuning::SizeGain const& gain) {
    return {exact_bytes(gain.bytes),
            gain.choice,
            human_us(gain.default_ns),
            human_us(gain.choice_ns),
            fmt::format("{:.2f} [{:.2f}, {:.2f}]", gain.speedup.estimate, gain.speedup.low, gain.speedup.high),
            gain.best,
            fmt::format("{:.2f}", gain.regret),
            fmt::format("{}", gain.launches)};
}

std::string series_text(std::span<tuning::SizeGain const> series) {
    tuning::SizeGain const& first = series.front();
    std::vector<Row> rows{{"bytes", "choice of the table", "default us", "choice us", "speed-up [95 %]", "fastest",
                           "regret", "launches"}};
    std::transform(series.begin(), series.end(), std::back_inserter(rows), gain_row);
    tuning::GainSummary const all = tuning::summary_of(series);
    return fmt::format("\n{} of {} by {} ranks, {}\n{}speed-up  {:.3f} geometric mean, {:.3f} at least; regret {:.3f} "
                       "geometric mean, {:.3f} at most; {} sizes\n",
                       first.scope, name_of(first.conditions.operation), first.conditions.ranks,
                       first.conditions.memory, columns_text(rows), all.speedup, all.speedup_least, all.regret,
                       all.regret_most, series.size());
}

double cost_ns(tuning::ExpectedStep const& step) {
    return step.rule == nullptr ? 0 : step.count * step.rule->evidence->default_ns;
}

Row expected_row(tuning::ExpectedStep const& step) {
    bool const known = step.rule != nullptr;
    return {std::string{name_of(step.demand.conditions.operation)},
            exact_bytes(step.demand.bytes),
            fmt::format("{}", step.demand.conditions.ranks),
            fmt::format("{:g}", step.count),
            known                                 ? human_us(step.rule->evidence->default_ns)
            : can_be_made(step.demand.conditions) ? "not measured"
                                                  : "one rank has all: no search",
            known ? fmt::format("{:.1f} %", 100 * step.rule->evidence->gain) : "-",
            known ? step.rule->choose.method : "-",
            known ? step.rule->id : "-"};
}

/// A line per size, and the geometric means of each scope, operation and number of ranks.
std::string measured_text(std::vector<tuning::SizeGain> const& gains) {
    std::string text;
    for (auto first = gains.begin(); first != gains.end();) {
        auto const last = std::find_if(first, gains.end(), [&](tuning::SizeGain const& each) {
            return each.scope != first->scope || each.conditions != first->conditions;
        });
        text += series_text({first, last});
        first = last;
    }
    return text;
}

/// A line per kind of operation, the most expensive first, and what all of them together gain. `workload`: its name.
std::string expected_text(std::string const& workload, tuning::ExpectedGain const& gain) {
    std::vector<tuning::ExpectedStep> steps = gain.steps;
    std::stable_sort(steps.begin(), steps.end(), [](auto const& a, auto const& b) { return cost_ns(a) > cost_ns(b); });
    std::vector<Row> rows{{"operation", "bytes", "ranks", "times per rank", "default us", "gain", "choice", "rule"}};
    std::transform(steps.begin(), steps.end(), std::back_inserter(rows),
                   [](tuning::ExpectedStep const& step) { return expected_row(step); });
    std::string const text = fmt::format("\n{}\n{}", workload, columns_text(rows));
    if (gain.covered == 0) {
        return text + "expected gain for this workload: unknown, the table has evidence for none of it\n";
    }
    return text + fmt::format("expected gain for this workload: {:.1f} % of the {} us that {:g} operations per rank "
                              "take; for {:g} more there is no evidence\n",
                              100 * gain.saved_ns / gain.default_ns, human_us(gain.default_ns), gain.covered,
                              gain.uncovered);
}

class Gain {
public:
    void add_options(CLI::App& parser) {
        parser.add_option("TABLE", path_, "tuning table (JSON)")->required();
        parser.add_option("--measured", measured_,
                          "result files or folders of launches that did not make the table, with its methods and the "
                          "default: speed-up and regret per size, inside each launch");
        parser
            .add_option("--traffic", traffic_,
                        "plans (--plan jsonl, or a folder of dlmb_plan import) of a workload: its gain by the table's "
                        "evidence")
            ->delimiter(',');
        parser.add_option("--backend", backend_, "backend of the workload")->capture_default_str();
        parser.add_option("--memory", memory_, "memory of the workload: host, pinned, cuda, managed, nccl")
            ->capture_default_str();
        parser.add_option("--next-search", search_sweep_,
                          "write a sweep file that measures what the workloads do and the table does not know");
        accept_.add_to(parser);
    }

    [[nodiscard]] int run() {
        if (measured_.empty() && traffic_.empty()) {
            throw UsageError("gain: give --measured RESULTS, --traffic PLAN.json, or both");
        }
        if (traffic_.empty() && !search_sweep_.empty()) {
            throw UsageError("--next-search: give the workload with --traffic PLAN.json");
        }
        tuning::TuningTable const table = tuning::read_table(path_);
        if (std::string const remark = weak_evidence_remark(table); !remark.empty()) {
            throw UsageError(fmt::format("{}: {}; a gain is not known from that", path_, remark));
        }
        if (!measured_.empty()) {
            print_measured(table);
        }
        tuning::Traffic all;  // for its sizes: how often each occurs does not matter to a search
        for (std::string const& plan : traffic_) {
            tuning::Traffic const traffic = tuning::read_traffic(plan);
            print_to(printed_beside({search_sweep_}),
                     expected_text(plan, expected_gain(table, traffic, backend_, memory_)));
            all.insert(traffic.begin(), traffic.end());
        }
        write_sweep(search_sweep_, searches(expected_gain(table, all, backend_, memory_), backend_),
                    {table.policy.launches, timing_of(table), table.policy.cache}, printed_beside({search_sweep_}));
        return exit_ok;
    }

private:
    [[nodiscard]] std::string timing_of(tuning::TuningTable const& table) const {
        if (!accept_.timing.empty()) {
            return accept_.timing;
        }
        return table.policy.metric == tuning::stream_metric ? tuning::stream_timing : tuning::isolated_timing;
    }

    void print_measured(tuning::TuningTable const& table) const {
        tuning::Observations fresh(accept_.checked());
        for (tuning::Input const& input : read_results(measured_, fresh)) {
            require_fresh(table, input);
        }
        if (fresh.system().key != table.system.key) {
            std::string const what = tuning::system_differences(fresh.system().identity, table.system.identity);
            throw UsageError(fmt::format(
                "--measured: these launches ran on another system ({})",
                what.empty() ? fmt::format("key {} instead of {}", fresh.system().key, table.system.key) : what));
        }
        if (accept_.timing.empty() && !fresh.timing().empty() && fresh.timing() != timing_of(table)) {
            throw UsageError(fmt::format("--measured: these cells are of --timing {}, the table is of {}",
                                         fresh.timing(), timing_of(table)));
        }
        if (fresh.cache() && !table.policy.cache.empty() && name_of(*fresh.cache()) != table.policy.cache) {
            throw UsageError(fmt::format("--measured: these cells are of --cache {}, the table is of {}",
                                         name_of(*fresh.cache()), table.policy.cache));
        }
        if (std::string const other = tuning::other_version(fresh.stack().versions, table.stack.versions);
            !other.empty()) {
            throw UsageError(fmt::format("--measured: these launches ran with {}", other));
        }
        print_refused(fresh, printed_beside({search_sweep_}));
        if (fresh.kept().empty()) {
            throw UsageError("--measured: no cell counts; the reasons are above");
        }
        print_to(printed_beside({search_sweep_}), measured_text(measured_gains(table, fresh.kept())));
    }

    /// The launches that made a table show the chance that made it.
    static void require_fresh(tuning::TuningTable const& table, tuning::Input const& input) {
        for (tuning::Input const& used : table.inputs) {
            if (used.sha256 == input.sha256) {
                throw UsageError(fmt::format("--measured: {} is one of the files that the table was made from; measure "
                                             "again",
                                             input.file));
            }
        }
    }

    std::string path_;
    std::string search_sweep_;
    std::vector<std::string> measured_;
    std::vector<std::string> traffic_;
    std::string backend_ = "mpi";
    std::string memory_ = "host";
    AcceptOptions accept_;
};

}  // namespace

void add_gain(CLI::App& tune, int& exit_code) {
    add_command<Gain>(tune, "gain", "what a table gains: by fresh measurements, or expected for a workload", exit_code);
}

}  // namespace dlmb::tuning::commands
