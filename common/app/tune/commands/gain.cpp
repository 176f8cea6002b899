// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune gain TABLE --measured RESULTS | --traffic PLAN: what a table gains.
#include "common/app/reporter.hpp"
#include "common/app/tune/command.hpp"
#include "common/app/tune/gain_text.hpp"
#include "common/app/tune/result_input.hpp"
#include "common/app/tune/sweep_output.hpp"
#include "common/base/error.hpp"
#include "common/tuning/build/software.hpp"
#include "common/tuning/read_table.hpp"

#include <fmt/format.h>

namespace dlmb::app::tune {
namespace {

class Gain final : public Command {
public:
    [[nodiscard]] std::string description() const override {
        return "what a table gains: by fresh measurements, or expected for a workload";
    }

    void add_options(CLI::App& parser) override {
        parser.add_option("TABLE", path_, "tuning table (JSON)")->required();
        parser.add_option("--measured", measured_,
                          "result files or folders of launches that did not make the table, with its methods and the "
                          "default: speed-up and regret per size, inside each launch");
        parser.add_option("--traffic", traffic_, "plans (--plan json) of a workload: its gain by the table's evidence")
            ->delimiter(',');
        parser.add_option("--backend", backend_, "of the workload")->capture_default_str();
        parser.add_option("--memory", memory_, "of the workload: host, pinned, cuda, managed, nccl")
            ->capture_default_str();
        parser.add_option("--next-search", search_sweep_,
                          "write a sweep file that measures what the workloads do and the table does not know");
        accept_.add_to(parser);
    }

    [[nodiscard]] int run() override {
        if (measured_.empty() && traffic_.empty()) {
            throw UsageError("gain: give --measured RESULTS, --traffic PLAN.json, or both");
        }
        if (traffic_.empty() && !search_sweep_.empty()) {
            throw UsageError("--next-search: give the workload with --traffic PLAN.json");
        }
        tuning::TuningTable const table = tuning::read_table(path_);
        if (!measured_.empty()) {
            print_measured(table);
        }
        tuning::Traffic all;  // for its sizes: how often each occurs does not matter to a search
        for (std::string const& plan : traffic_) {
            tuning::Traffic const traffic = tuning::read_traffic(plan);
            fmt::print("{}", expected_text(plan, expected_gain(table, traffic, backend_, memory_)));
            all.insert(traffic.begin(), traffic.end());
        }
        write_sweep(search_sweep_, searches(expected_gain(table, all, backend_, memory_), backend_),
                    {table.policy.launches, accept_.timing, table.policy.cache});
        return exit_ok;
    }

private:
    void print_measured(tuning::TuningTable const& table) const {
        tuning::Observations fresh(accept_.checked());
        for (tuning::Input const& input : read_results(measured_, fresh)) {
            require_fresh(table, input);
        }
        if (fresh.system().key != table.system.key) {
            throw UsageError(fmt::format("--measured: these launches ran on another system ({} instead of {})",
                                         fresh.system().key, table.system.key));
        }
        if (fresh.cache() && !table.policy.cache.empty() && name_of(*fresh.cache()) != table.policy.cache) {
            throw UsageError(fmt::format("--measured: these cells are of --cache {}, the table is of {}",
                                         name_of(*fresh.cache()), table.policy.cache));
        }
        if (std::string const other = tuning::other_version(fresh.stack().versions, table.stack.versions);
            !other.empty()) {
            throw UsageError(fmt::format("--measured: these launches ran with {}", other));
        }
        print_refused(fresh);
        if (fresh.kept().empty()) {
            throw UsageError("--measured: no cell counts; the reasons are above");
        }
        fmt::print("{}", measured_text(measured_gains(table, fresh.kept())));
    }

    /// What made a table shows the luck by which it was made.
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

std::unique_ptr<Command> make_gain() {
    return std::make_unique<Gain>();
}

}  // namespace dlmb::app::tune
