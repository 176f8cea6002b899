// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/trace/run_trace.hpp"

#include "common/app/reporter.hpp"
#include "common/app/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/plan/validate.hpp"
#include "common/record/plan_document.hpp"
#include "common/trace/exports/exports.hpp"
#include "common/trace/plan_file.hpp"
#include "common/trace/plans.hpp"
#include "common/trace/read.hpp"
#include "common/trace/summary.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace dlmb::app {
namespace {

struct Assumed {
    trace::Assumptions reading;
    trace::PlanAssumptions planning;
};

/// The words of --assume: KEY=VALUE.
Assumed assumptions_of(std::vector<std::string> const& words) {
    Assumed assumed;
    trace::Assumptions& assumptions = assumed.reading;
    for (std::string const& word : words) {
        std::size_t const equals = word.find('=');
        std::string const key = word.substr(0, equals);
        std::string const value = equals == std::string::npos ? "" : word.substr(equals + 1);
        if (key == "ranks") {
            auto const ranks = parse_whole<int>(value);
            if (!ranks || *ranks < 1 || *ranks > trace::most_ranks) {
                throw UsageError(
                    fmt::format("--assume ranks={}: must be a number from 1 to {}", value, trace::most_ranks));
            }
            assumptions.ranks = *ranks;
        } else if (key == "dtype") {
            assumptions.dtype = trace::dtype_named(value);
            if (!assumptions.dtype) {
                throw UsageError(fmt::format("--assume dtype={}: must be one of {}", value, element_names));
            }
        } else if (key == "root") {
            assumed.planning.root = parse_whole<int>(value);
            if (!assumed.planning.root || *assumed.planning.root < 0) {
                throw UsageError(fmt::format("--assume root={}: must be a rank of the group", value));
            }
        } else if (key == "iterations") {
            constexpr int most = 1'000'000;
            assumed.planning.iterations = parse_whole<int>(value);
            if (assumed.planning.iterations.value_or(0) < 1 || *assumed.planning.iterations > most) {
                throw UsageError(fmt::format("--assume iterations={}: must be a number from 1 to {}", value, most));
            }
        } else {
            throw UsageError(fmt::format("--assume {}: must be ranks=N, dtype=TYPE, root=N or iterations=N", word));
        }
    }
    return assumed;
}

std::string formats_text() {
    std::string text = "Formats:\n";
    for (trace::Format const& format : trace::all_formats()) {
        text += fmt::format("  {:<16}{}\n", format.name, format.description);
    }
    return text;
}

/// What the subcommands that read a trace have in common.
class TraceOptions {
public:
    void add(CLI::App& parser) {
        parser.add_option("FILES", files_, "files of all ranks: plain, gzip, tar or zip, or folders of such")
            ->required();
        parser.add_option("--format", format_, "force a format (default: found out from the files)");
        parser
            .add_option("--assume", assumptions_,
                        "what the trace does not say: ranks=N, dtype=TYPE, root=N, iterations=N")
            ->allow_extra_args(false);
        parser.footer(formats_text());
    }
    [[nodiscard]] trace::Trace read() const {
        return trace::read_trace({files_.begin(), files_.end()}, {format_, assumptions_of(assumptions_).reading});
    }
    [[nodiscard]] trace::PlanAssumptions planning() const { return assumptions_of(assumptions_).planning; }
    [[nodiscard]] std::vector<std::string> const& assumed() const { return assumptions_; }

private:
    std::vector<std::string> files_;
    std::string format_;
    std::vector<std::string> assumptions_;
};

class Summary {
public:
    void add_options(CLI::App& parser) {
        options_.add(parser);
        parser.add_flag("--json", json_, "print one JSON object");
        std::string models;
        for (trace::CacheModel const& model : trace::cache_models()) {
            models += fmt::format("{}{}", models.empty() ? "" : ", ", model.name);
        }
        parser.add_option("--model", model_, "of requests: the bytes of this model's KV cache: " + models);
        parser.add_option("--kv-dtype", dtype_, "its type (default: bf16)");
        parser.add_option("--tp", tensor_parallel_, "ranks that its heads are split over (default: 1)");
        parser.add_option("--pp", pipeline_parallel_, "ranks that its layers are split over (default: 1)");
    }
    [[nodiscard]] int run() const {
        trace::Trace const trace = options_.read();
        if (!trace.requests.empty()) {
            auto const layout = cache();
            fmt::print("{}", json_ ? requests_json(trace.requests, layout) : requests_text(trace.requests, layout));
            return exit_ok;
        }
        if (!model_.empty()) {
            throw UsageError(fmt::format("--model: is for requests; the files are {}", trace.format));
        }
        fmt::print("{}", json_ ? summary_json(trace) : summary_text(trace));
        return exit_ok;
    }

private:
    [[nodiscard]] std::optional<trace::CacheLayout> cache() const {
        if (model_.empty()) {
            return std::nullopt;
        }
        auto const element = element_named(dtype_);
        if (!element) {
            throw UsageError(fmt::format("--kv-dtype {}: must be one of {}", dtype_, element_names));
        }
        return trace::cache_layout(model_, size_of(*element), tensor_parallel_, pipeline_parallel_);
    }

    TraceOptions options_;
    bool json_ = false;
    std::string model_;
    std::string dtype_ = "bf16";
    Bytes tensor_parallel_ = 1;
    Bytes pipeline_parallel_ = 1;
};

class Import {
public:
    void add_options(CLI::App& parser) {
        options_.add(parser);
        parser
            .add_option("-o,--output", output_,
                        "file of the plans (JSON, as --plan json; -: standard output), or a folder, which gets a "
                        "file per iteration")
            ->required();
        parser
            .add_option("--ranks-per-node", ranks_per_node_, "of the recorded run, in blocks (default: 0, not known)")
            ->check(CLI::Range(0, trace::most_ranks));
    }
    [[nodiscard]] int run() const {
        trace::Trace trace = options_.read();
        bool const is_folder = output_.ends_with('/') || std::filesystem::is_directory(output_);
        auto const& assumed = options_.planning().iterations;
        int const iterations = is_folder || assumed ? find_iterations(trace, assumed) : 0;
        if (!is_folder || iterations == 0) {
            write(trace, std::nullopt, is_folder ? (std::filesystem::path(output_) / "plan.json").string() : output_);
            return exit_ok;
        }
        for (int iteration = 0; iteration < iterations; ++iteration) {
            // Names sort as numbers do.
            write(trace, iteration,
                  (std::filesystem::path(output_) / fmt::format("iteration-{:06}.json", iteration)).string());
        }
        return exit_ok;
    }

private:
    void write(trace::Trace const& trace, std::optional<int> iteration, std::string const& path) const {
        record::PlanHeader header;
        header.pattern = "trace";
        header.parameters["format"] = trace.format;
        for (std::string const& assumed : options_.assumed()) {
            header.parameters["assume-" + assumed.substr(0, assumed.find('='))] = assumed.substr(assumed.find('=') + 1);
        }
        header.world = {trace.ranks, ranks_per_node_};
        header.draw.index = static_cast<std::uint32_t>(iteration.value_or(0));
        std::string const document = plan_document(header, checked(trace, iteration));
        if (auto const folder = std::filesystem::path(path).parent_path(); !folder.empty() && path != output_) {
            std::error_code ignored;  // what cannot be made cannot be written to, which is said then
            std::filesystem::create_directories(folder, ignored);
        }
        write_output(path, document);
    }

    /// What a plan of a pattern proves in a test, one of a trace proves here. A computation waits for the messages that
    /// came before, as what it works on; where ranks would wait for each other then, they did not wait in the run.
    [[nodiscard]] std::vector<Plan> checked(trace::Trace const& trace, std::optional<int> iteration) const {
        trace::PlanRequest request{options_.planning(), iteration};
        std::string problem;
        for (bool const behind_receives : {true, false}) {
            request.computes_behind_receives = behind_receives;
            std::vector<Plan> plans;
            plans_of(trace, request).each([&](Plan const& plan) { plans.push_back(plan); });
            auto const problems = validate(plans);
            if (problems.empty()) {
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

/// The plans of one document, which validate() accepts. Steps lie in shared buffers: the file does not say theirs.
std::vector<Plan> plans_in(std::string const& path) {
    std::vector<Plan> plans;
    std::string document;
    trace::read_plans(path, {[&](Plan const& plan) {
                                 if (!document.empty()) {
                                     throw UsageError(fmt::format("{}: more plans behind those of {}; an export is of "
                                                                  "one iteration: name its file",
                                                                  path, document));
                                 }
                                 plans.push_back(trace::with_buffers(plan, 0));
                                 return true;
                             },
                             [&](trace::PlanFile const& file) {
                                 document = file.name;
                                 return true;
                             }});
    auto const problems = validate(plans);
    if (!problems.empty()) {
        throw UsageError(fmt::format("{}: the ranks do not fit together: {}", path, problems.front().text));
    }
    return plans;
}

class Export {
public:
    void add_options(CLI::App& parser) {
        parser.add_option("PLAN", plan_, "file of --plan json or of dlmb_trace import")->required();
        std::string formats;
        for (trace::ExportFormat const& format : trace::all_export_formats()) {
            formats += fmt::format("{}{}", formats.empty() ? "" : ", ", format.name);
        }
        parser.add_option("--to", format_, "format: " + formats)->required();
        parser
            .add_option("-o,--output", output_,
                        "the file (-: standard output), or of chakra and param the folder of a file per rank")
            ->required();
        parser.add_option("--phase", phase_, "only the steps of this phase (the label up to its first dot)");
        parser.footer(export_text());
    }

    [[nodiscard]] int run() const {
        trace::ExportFormat const& format = format_named();
        std::vector<Plan> const held = plans_in(plan_);
        PlanSource const all(held);
        PlanSource const plans = phase_.empty() ? all : trace::only_phase(all, phase_);
        std::string text;
        if (format.folder) {
            make_folder();
        }
        trace::Losses const losses = format.write(plans, [&](std::string_view name, std::string_view piece) {
            if (format.folder) {
                write_output(std::filesystem::path(output_) / name, piece);
            } else {
                text += piece;
            }
        });
        if (!format.folder) {
            write_output(output_, text);
        }
        std::string const side = trace::losses_json(format.name, losses);
        if (is_standard_output(output_)) {
            fmt::print(stderr, "{}", side);
        } else {
            write_output(without_slash() + ".losses.json", side);
        }
        return exit_ok;
    }

private:
    static std::string export_text() {
        std::string text = "Formats:\n";
        for (trace::ExportFormat const& format : trace::all_export_formats()) {
            text += fmt::format("  {:<16}{}\n", format.name, format.description);
        }
        return text + "\nWhat a format does not hold is listed in OUTPUT.losses.json.";
    }
    [[nodiscard]] trace::ExportFormat const& format_named() const {
        auto const formats = trace::all_export_formats();
        std::vector<std::string> names;
        for (trace::ExportFormat const& format : formats) {
            if (format.name == format_) {
                return format;
            }
            names.emplace_back(format.name);
        }
        throw UsageError(fmt::format("--to: {}", unknown_name("format", format_, names)));
    }
    [[nodiscard]] std::string without_slash() const {
        std::filesystem::path const path = std::filesystem::path(output_).lexically_normal();
        return (path.has_filename() ? path : path.parent_path()).string();
    }
    /// Files of other ranks would belong to the trace, so the folder is new.
    void make_folder() const {
        if (is_standard_output(output_)) {
            throw UsageError(fmt::format("-o {}: {} has a file per rank; give a folder", output_, format_));
        }
        std::error_code error;
        std::filesystem::create_directories(output_, error);
        if (error) {
            throw OutputError(fmt::format("{}: cannot be made: {}", output_, error.message()));
        }
        if (!std::filesystem::is_empty(output_, error) || error) {
            throw UsageError(fmt::format("-o {}: there are files in it; give a new folder", output_));
        }
    }

    std::string plan_;
    std::string format_;
    std::string output_;
    std::string phase_;
};

}  // namespace

int run_trace(int argc, char** argv) {
    CLI::App program{"Reads the communication of recorded runs", "dlmb_trace"};
    int exit_code = exit_ok;
    add_command<Summary>(program, "summary", "show what a trace communicates", exit_code);
    add_command<Import>(program, "import", "write the plans of a trace", exit_code);
    add_command<Export>(program, "export", "write plans in the format of another program", exit_code);
    return run_subcommands(program, argc, argv, exit_code);
}

}  // namespace dlmb::app
