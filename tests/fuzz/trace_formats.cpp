// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Traces of recorded runs, a target for each format.
#include "common/formats/plan/validate.hpp"
#include "common/formats/plan_file/plan_buffers.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/tools/plan/exports/exports.hpp"
#include "common/tools/plan/plans.hpp"
#include "common/tools/plan/read.hpp"
#include "common/tools/plan/summary.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace dlmb::fuzz {
namespace {

/// The summary is JSON, and its entries lie inside of what it says of itself.
void check_summary(trace::Trace const& trace) {
    require(!trace::summary_text(trace).empty(), "the text is empty");
    constexpr int most_ranks = 256;  // an entry for each is parsed
    if (trace.ranks > most_ranks) {
        return;
    }
    auto const summary = nlohmann::json::parse(trace::summary_json(trace));
    require(summary["complete"] == summary["why_not"].empty(), "a complete trace has reasons not to be");
    for (auto const& entry : summary["operations"]) {
        require(entry["rank"] < summary["ranks"], "a rank is not of the run");
        require(entry["count"] > 0 || entry["bytes"] == 0, "no call sends bytes");
        if (summary["complete"]) {
            require(entry["group_size"].is_number() && entry["group_size"] <= summary["ranks"],
                    "a group is larger than the run");
        }
    }
}

/// Plans are made of a complete trace or refused, and are the same for every use of them.
void check_plans(trace::Trace const& trace) {
    constexpr int most_ranks = 16;  // what many ranks and calls cost is no finding
    constexpr std::uint64_t most_calls = 256;
    std::uint64_t calls = 0;
    for (trace::RankProgram const& program : trace.programs) {
        for (trace::TraceOperation const& operation : program.operations) {
            calls += std::min(operation.repeat, most_calls);
        }
    }
    if (!trace.complete() || trace.ranks > most_ranks || calls > most_calls) {
        return;
    }
    PlanSource const plans = trace::plans_of(trace, {});
    for (std::size_t rank = 0; rank < plans.ranks(); ++rank) {
        Plan const plan = plans.of(static_cast<Rank>(rank));
        require(plan == plans.of(plan.me), "two plans of one rank differ");
    }
}

/// The file is read as one of the format, and as one that is found out.
void read_as(std::string_view format, std::string_view input) {
    static MemoryFile const file;
    file.hold(input);
    for (std::string_view const forced : {format, std::string_view()}) {
        (void)accepts([&] {
            trace::Trace const trace = trace::read_trace({file.path()}, {std::string(forced), {}});
            if (trace.requests.empty()) {
                check_summary(trace);
            } else {
                auto const layout = trace::cache_layout("deepseek-v3", 1, 1, 1);
                auto const told = nlohmann::json::parse(trace::requests_json(trace.requests, layout));
                require(told["requests"] == trace.requests.requests.size(), "requests are lost");
                require(!trace::requests_text(trace.requests, layout).empty(), "the text is empty");
            }
            check_plans(trace);
        });
    }
}

}  // namespace

void trace_aicb(std::string_view input) {
    read_as("aicb", input);
}
void trace_chakra(std::string_view input) {
    read_as("chakra", input);
}
void trace_execution(std::string_view input) {
    read_as("pytorch-et", input);
}
void trace_flight(std::string_view input) {
    read_as("flight-recorder", input);
}
void trace_goal(std::string_view input) {
    read_as("goal", input);
}
void trace_inspector(std::string_view input) {
    read_as("nccl-inspector", input);
}
void trace_kineto(std::string_view input) {
    read_as("kineto", input);
}
void trace_log(std::string_view input) {
    read_as("nccl-log", input);
}
void trace_matrix(std::string_view input) {
    read_as("nccl-matrix", input);
}
void trace_param(std::string_view input) {
    read_as("param", input);
}
void trace_pmpi(std::string_view input) {
    read_as("pmpi", input);
}
void trace_requests(std::string_view input) {
    read_as("requests", input);
}
void trace_simai(std::string_view input) {
    read_as("simai", input);
}

/// Plan files: what fits together is exported to every format, or refused.
void trace_plan(std::string_view input) {
    static MemoryFile const file;
    file.hold(input);
    std::vector<Plan> plans;
    bool const read = accepts([&] {
        read_plans(file.path(), {[&](PlanHeader const& /*header*/) {
                                     plans.clear();
                                     return true;
                                 },
                                 [&](Plan const& plan) {
                                     plans.push_back(plan.buffers.empty() ? with_buffers(plan, 0) : plan);
                                     return true;
                                 }});
        if (!validate(plans).empty()) {
            throw UsageError("the ranks do not fit together");
        }
    });
    for (trace::ExportFormat const& format : trace::all_export_formats()) {
        if (read) {
            (void)accepts([&] { (void)format.write(plans, [](std::string_view, std::string_view) {}); });
        }
    }
}

}  // namespace dlmb::fuzz
