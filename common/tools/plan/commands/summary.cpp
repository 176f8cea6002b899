// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_plan summary FILES: what a trace communicates, or what an inference service was asked for.
#include "common/tools/plan/summary.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/tools/plan/commands/run_plan.hpp"
#include "common/tools/plan/commands/trace_options.hpp"

#include <fmt/core.h>

namespace dlmb::trace::commands {
namespace {

class Summary {
public:
    void add_options(CLI::App& parser) {
        options_.add(parser);
        parser.add_flag("--json", json_, "print one JSON object");
        std::string models;
        for (trace::CacheModel const& model : trace::cache_models()) {
            models += fmt::format("{}{}", models.empty() ? "" : ", ", model.name);
        }
        auto* const model =
            parser.add_option("--model", model_, "of requests: the bytes of this model's KV cache: " + models);
        parser.add_option("--kv-dtype", dtype_, "element type of the KV cache (default: bf16)")->needs(model);
        parser.add_option("--tp", tensor_parallel_, "ranks that share the heads of the KV cache (default: 1)")
            ->needs(model);
        parser.add_option("--pp", pipeline_parallel_, "ranks that share the layers of the KV cache (default: 1)")
            ->needs(model);
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

}  // namespace

void add_summary(CLI::App& program, int& exit_code) {
    add_command<Summary>(program, "summary", "show what a trace communicates", exit_code);
}

}  // namespace dlmb::trace::commands
