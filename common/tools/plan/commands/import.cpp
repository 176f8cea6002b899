// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_plan import FILES -o PLANS: the plans of a trace, one document or one per iteration.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/formats/plan/validate.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/tools/plan/builder.hpp"
#include "common/tools/plan/commands/plan_output.hpp"
#include "common/tools/plan/commands/run_plan.hpp"
#include "common/tools/plan/commands/trace_options.hpp"
#include "common/tools/plan/iterations.hpp"
#include "common/tools/plan/plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

namespace dlmb::trace::commands {
namespace {

constexpr Bytes most_held = Bytes{512} << 20;  // of plans, which are proved to fit together

/// About what a plan takes.
Bytes memory_of(Plan const& plan) {
    constexpr Bytes of_label = 64;  // and what else a step allocates
    Bytes bytes = plan.steps.size() * (sizeof(Step) + of_label) + plan.buffers.size() * sizeof(Buffer);
    for (Group const& group : plan.groups) {
        bytes += group.members.size() * sizeof(Rank);
    }
    for (Step const& step : plan.steps) {
        bytes += step.after.size() * sizeof(StepId);
        bytes += (sent_blocks(step.operation).size() + received_blocks(step.operation).size()) * sizeof(Block);
    }
    return bytes;
}

/// Messages that later steps do not wait for.
std::uint64_t loosened(std::vector<Plan> const& plans, MessageWaits waits) {
    std::uint64_t messages = 0;
    for (Plan const& plan : plans) {
        messages +=
            static_cast<std::uint64_t>(std::count_if(plan.steps.begin(), plan.steps.end(), [waits](Step const& step) {
                OperationKind const kind = kind_of(step.operation);
                return kind == OperationKind::send || (waits == MessageWaits::none && kind == OperationKind::recv);
            }));
    }
    return messages;
}

class Import {
public:
    void add_options(CLI::App& parser) {
        options_.add(parser);
        parser
            .add_option("-o,--output", output_,
                        "file of the plans (as --plan jsonl; -: standard output), or a folder, which gets a "
                        "file per iteration")
            ->required();
        parser
            .add_option("--ranks-per-node", ranks_per_node_,
                        "ranks per node of the recorded run, in blocks (default: 0, not known)")
            ->check(CLI::Range(0, most_recorded_ranks));
    }
    [[nodiscard]] int run() const {
        trace::Trace trace = options_.read();
        write_all(trace);
        for (auto const& [what, times] : trace::notes_of(trace)) {
            print_error(fmt::format("note: {} ({})\n", what, times));
        }
        return exit_ok;
    }

private:
    void write_all(trace::Trace& trace) const {
        bool const is_folder = output_.ends_with('/') || std::filesystem::is_directory(output_);
        auto const assumed = options_.iterations();
        auto const [iterations, found] = is_folder || assumed ? find_iterations(trace, assumed) : trace::Iterations();
        if (!found.empty()) {
            print_error(fmt::format("iterations: the trace marks none; {}{}\n", found,
                                    iterations > 0 ? "; --assume iterations=1 keeps it whole" : ""));
        }
        if (is_folder) {
            make_folder(output_);
        }
        if (!is_folder || iterations == 0) {
            write(trace, std::nullopt, false,
                  is_folder ? (std::filesystem::path(output_) / "plan.jsonl").string() : output_);
            return;
        }
        for (int iteration = 0; iteration < iterations; ++iteration) {
            // Names sort as numbers do.
            write(trace, iteration, !found.empty(),
                  (std::filesystem::path(output_) / fmt::format("iteration-{:06}.jsonl", iteration)).string());
        }
    }
    void write(trace::Trace& trace, std::optional<int> iteration, bool is_found, std::string const& path) const {
        PlanHeader header;
        header.pattern = "trace";
        header.parameters["format"] = trace.format;
        for (std::string const& assumed : options_.assumed()) {
            header.parameters["assume-" + assumed.substr(0, assumed.find('='))] = assumed.substr(assumed.find('=') + 1);
        }
        if (is_found) {
            header.parameters["iterations"] = "repetition";
        }
        header.world = {trace.ranks, ranks_per_node_};
        header.draw.index = static_cast<std::uint32_t>(iteration.value_or(0));
        std::vector<trace::RecordedTimes> recorded(static_cast<std::size_t>(trace.ranks));
        std::vector<Plan> const plans = checked(trace, iteration, recorded);
        std::string const text = plan_lines(header, plans, [&](Rank rank, StepId step) {
            return recorded.at(static_cast<std::size_t>(rank)).at(step);
        });
        write_output(path, text);
    }

    /// What a plan of a pattern proves in a test, one of a trace proves here. A computation waits for the receives that
    /// came before, as what it works on, and a collective for sends, which may be complete before they are received;
    /// where ranks would wait for each other then, they did not wait in the run.
    [[nodiscard]] std::vector<Plan> checked(trace::Trace& trace, std::optional<int> iteration,
                                            std::vector<trace::RecordedTimes>& recorded) const {
        trace::PlanRequest request{iteration, MessageWaits::all, &recorded};
        std::string problem;
        for (MessageWaits const waits : {MessageWaits::all, MessageWaits::receives, MessageWaits::none}) {
            request.waits = waits;
            std::vector<Plan> plans;
            Bytes held = 0;
            plans_of(trace, request).each([&](Plan const& plan) {
                held += memory_of(plan);
                if (held > most_held) {
                    throw UsageError(fmt::format("the plans of {} ranks take more than {} of memory; import a trace of "
                                                 "fewer ranks, or of fewer iterations",
                                                 trace.ranks, human_bytes(most_held)));
                }
                plans.push_back(plan);
            });
            auto const problems = validate(plans);
            if (problems.empty()) {
                if (waits != MessageWaits::all) {
                    trace.notes[fmt::format("{} that later steps do not wait for, since ranks would wait for each "
                                            "other then",
                                            waits == MessageWaits::receives ? "sends" : "messages")] +=
                        loosened(plans, waits);
                }
                return plans;
            }
            problem = problem.empty() ? problems.front().text : problem;
        }
        throw UsageError(fmt::format("the ranks of the trace do not fit together: {}", problem));
    }

    TraceOptions options_;
    std::string output_;
    int ranks_per_node_ = 0;
};

}  // namespace

void add_import(CLI::App& program, int& exit_code) {
    add_command<Import>(program, "import", "write the plans of a trace", exit_code);
}

}  // namespace dlmb::trace::commands
