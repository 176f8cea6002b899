// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict table --model MODEL --nodes N -o TABLE: a tuning table for ranks that were not measured.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/base/output_file.hpp"
#include "common/base/units.hpp"
#include "common/base/version.hpp"
#include "common/formats/table/provenance.hpp"
#include "common/formats/table/table_file.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/machine_model.hpp"
#include "common/tools/predict/predicted_table.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

namespace dlmb::predict::commands {
namespace {

constexpr Bytes most_size = Bytes{1} << 40;

class PredictTable {
public:
    void add_options(CLI::App& parser) {
        parser.add_option("--model", model_path_, "machine model of dlmb_predict fit")->required();
        parser.add_option("--nodes", nodes_, "numbers of nodes, or shapes of a torus such as 8x8x8")
            ->required()
            ->delimiter(',');
        parser.add_option("--ranks-per-node", ranks_per_node_, "ranks per node of the jobs [1]")
            ->check(CLI::Range(1, 1024));
        parser.add_option("--sizes", sizes_, "MIN:MAX bytes of the whole vector, doubling from MIN")
            ->capture_default_str();
        parser.add_option("--family", family_, "library that will read the table: open_mpi.tuned, mpich")
            ->check(CLI::IsMember({"open_mpi.tuned", "mpich"}))
            ->capture_default_str();
        parser.add_option("--mpi-version", version_, "of that library, such as 4.1.6, which the model does not say");
        parser.add_option("-o,--output", output_, "tuning table (JSON); - prints it")->required();
        parser.add_flag("--force", force_, "also where the model's held-out error is above 40 %");
    }

    int run() {
        std::string const text = read_document(model_path_);
        MachineModel model = read_model(text, model_path_);
        model.forced = model.forced || force_;
        PredictedTable const made = predicted_table(model, question());
        tuning::TuningTable table;
        table.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
        BuildInfo const& info = build_info();
        table.tool = {"dlmb_predict", std::string(info.version), std::string(info.git_revision)};
        table.inputs = {{std::filesystem::path(model_path_).filename().string(), tuning::sha256(text), {}}};
        std::map<std::string, std::string> const identity{{"system", model.system}};
        table.system = {tuning::system_key(identity), "not known", "", model.system, identity};
        if (!version_.empty()) {
            table.stack.mpi = tuning::MpiLibrary{family_ == "mpich" ? "MPICH" : "Open MPI", version_};
        }
        table.policy.metric = "time predicted by a machine model";
        table.policy.launches = 0;
        table.policy.confirm_launches = 0;
        table.policy.fdr_q = 1;  // nothing is tested
        table.rules = made.rules;
        for (std::string const& left_out : made.left_out) {
            print_error(fmt::format("dlmb_predict: left out: {}\n", left_out));
        }
        if (table.rules.empty()) {
            print_error(fmt::format(
                "dlmb_predict: error: no rule: the model answers nothing that a table of {} holds\n", family_));
            return exit_unavailable;
        }
        tuning::sort_rules(table.rules);
        tuning::write_table(output_, table);
        if (!is_standard_output(output_)) {
            fmt::print(
                "{} predicted rules for {}, from a model fitted on {} to {} nodes\nnext      dlmb_tune show {}\n",
                made.rules.size(), model.system, model.fewest_nodes, model.most_nodes, output_);
        }
        return exit_ok;
    }

private:
    [[nodiscard]] TableQuestion question() const {
        TableQuestion question;
        for (std::string const& nodes : nodes_) {
            Topology job = parse_nodes(nodes);
            job.ranks_per_node = ranks_per_node_;
            if (std::find(question.jobs.begin(), question.jobs.end(), job) != question.jobs.end()) {
                throw UsageError(fmt::format("--nodes: '{}' stands twice", nodes));
            }
            question.jobs.push_back(std::move(job));
        }
        auto const ends = split(sizes_, ":");
        if (ends.size() != 2) {
            throw UsageError(fmt::format("--sizes '{}': write MIN:MAX, such as 8:16M", sizes_));
        }
        Bytes const least = parse_bytes(ends[0], "--sizes");
        Bytes const most = parse_bytes(ends[1], "--sizes");
        if (least < 1 || least > most || most > most_size) {
            throw UsageError(fmt::format("--sizes '{}': MIN is from 1 to MAX, which is at most 1024G", sizes_));
        }
        for (Bytes size = least; size <= most; size *= 2) {
            question.sizes.push_back(size);
        }
        question.family = family_;
        return question;
    }

    std::string model_path_;
    std::vector<std::string> nodes_;
    int ranks_per_node_ = 1;
    std::string sizes_ = "8:16M";
    std::string family_ = "open_mpi.tuned";
    std::string version_;
    std::string output_;
    bool force_ = false;
};

}  // namespace

void add_table(CLI::App& program, int& exit_code) {
    add_command<PredictTable>(program, "table", "Make a tuning table for ranks that were not measured", exit_code);
}

}  // namespace dlmb::predict::commands
