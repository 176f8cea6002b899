// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_plan rescale HOW PLAN --ranks N: the plans for another number of ranks.
#include "common/formats/plan/transform/rescale.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/formats/plan/validate.hpp"
#include "common/formats/plan_file/plan_buffers.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/tools/plan/commands/plan_output.hpp"
#include "common/tools/plan/commands/run_plan.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace dlmb::trace::commands {
namespace {

class RescalePlans {
public:
    void add_options(CLI::App& parser) {
        parser
            .add_option("HOW", how_,
                        "preserve-skew: exchanges keep their shape; uniform: they get equal blocks; truncate: ranks "
                        "are left out")
            ->required()
            ->transform(
                CLI::CheckedTransformer(std::map<std::string, Rescale>{{"preserve-skew", Rescale::preserve_skew},
                                                                       {"uniform", Rescale::uniform},
                                                                       {"truncate", Rescale::truncate}}));
        parser.add_option("PLAN", plan_, "plans: a file, a folder, or - for standard input")->required();
        parser.add_option("--ranks", ranks_, "how many ranks the plans are to have")
            ->required()
            ->check(CLI::Range(1, most_recorded_ranks));
        output_.add(parser);
    }

    int run() {
        TextSink const sink = output_.sink();
        std::optional<PlanHeader> header;
        std::vector<Plan> plans;
        auto const write = [&] {
            if (!header) {
                return;
            }
            if (auto const problems = validate(plans); !problems.empty()) {
                throw UsageError(
                    fmt::format("{}: the ranks do not fit together: {}", header->file, problems.front().text));
            }
            header->world.ranks = ranks_;
            write_plans(*header, rescaled(plans, ranks_, how_), sink);
            plans.clear();
        };
        read_plans(plan_, {[&](PlanHeader next) {
                               write();
                               header = std::move(next);
                               header->parameters["rescaled-from"] = std::to_string(header->world.ranks);
                               return true;
                           },
                           [&](Plan plan) {
                               plans.push_back(plan.buffers.empty() ? with_buffers(plan, 0) : std::move(plan));
                               return true;
                           }});
        write();
        output_.close();
        return exit_ok;
    }

private:
    Rescale how_ = Rescale::uniform;
    std::string plan_;
    int ranks_ = 0;
    PlanOutput output_;
};

}  // namespace

void add_rescale(CLI::App& program, int& exit_code) {
    add_command<RescalePlans>(program, "rescale", "plans for another number of ranks", exit_code);
}

}  // namespace dlmb::trace::commands
