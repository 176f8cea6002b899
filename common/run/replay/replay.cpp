// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/replay/replay.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/transform/overlay.hpp"
#include "common/run/replay/recorded_plans.hpp"
#include "patterns/readers.hpp"

#include <fmt/format.h>

#include <utility>

namespace dlmb::run::replay {
namespace {

constexpr ParameterInfo infos[] = {
    {"plan",
     "plans of all ranks (of --plan jsonl or dlmb_plan, also compressed), or a folder or archive with a file per "
     "iteration; -: standard input of rank 0",
     ""},
    {"compute", "the computations of the plan: recorded, none, or a factor by which their times are scaled",
     "recorded"},
    memory_limit_parameter,
    {overlay_parameter, "the two plans that dlmb_plan overlay put together; the file says it", ""},
};
constexpr std::string_view compute_parameters[] = {"compute"};

double read_compute(Parameters const& parameters) {
    std::string const& text = parameters.find("compute")->second;
    if (text == "recorded" || text == "none") {
        return text == "none" ? 0 : 1;
    }
    constexpr double largest = 1e4;
    try {
        return read_real(parameters, "compute", 0, largest);
    } catch (UsageError const&) {
        throw UsageError(
            fmt::format("--compute '{}': must be recorded, none, or a factor from 0 to {:g}", text, largest));
    }
}

Request read_request(Parameters const& parameters) {
    std::string const& plan = parameters.find("plan")->second;
    if (plan.empty()) {
        throw UsageError("--plan FILE is missing: the plans to measure, as --plan jsonl and dlmb_plan write them");
    }
    bool const piped = plan.starts_with("-:");  // and what share_standard_input() adds
    return {piped ? "-" : plan, read_compute(parameters), read_memory_limit(parameters)};
}

class Replay final : public Pattern {
public:
    Replay(Request request, std::string const& overlay, WorldShape const& world)
        : request_(std::move(request)), plans_(request_, world.ranks) {
        if (!overlay.empty() && overlay != plans_.overlay()) {
            throw UsageError(fmt::format("--{} '{}': {} says '{}'; leave the option out", overlay_parameter, overlay,
                                         request_.path.string(), plans_.overlay()));
        }
        if (!plans_.compared()) {
            remarks_.emplace_back("the plans are too large to be compared over ranks before they run");
        }
    }

    [[nodiscard]] RankSetup setup_of(Rank /*source*/, Draw /*draw*/) const override { return {}; }
    [[nodiscard]] Plan build(Rank me, Draw draw, RankSetup const& /*own*/,
                             std::span<SetupCounts const> /*received_counts*/) const override {
        return plans_.of(me, draw.index % plans_.iterations());
    }
    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> /*summed*/) const override {
        return {{"recorded_ranks", static_cast<double>(plans_.recorded_ranks())},
                {"recorded_iterations", static_cast<double>(plans_.iterations())}};
    }
    [[nodiscard]] std::vector<OperationUse> operations() const override { return plans_.operations(); }
    [[nodiscard]] bool draws_differ() const override { return plans_.iterations() > 1; }
    [[nodiscard]] std::uint32_t most_draws() const override { return plans_.iterations(); }
    [[nodiscard]] bool runs_beside() const override { return plans_.runs_beside(); }
    [[nodiscard]] Parameters resolved() const override { return {{overlay_parameter, plans_.overlay()}}; }
    [[nodiscard]] std::vector<std::string> remarks() const override { return remarks_; }

private:
    Request request_;
    RecordedPlans plans_;
    std::vector<std::string> remarks_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<Replay>(read_request(parameters), parameters.find(overlay_parameter)->second, world);
}

}  // namespace

PatternType const& type() {
    static PatternType const replay{.name = "replay",
                                    .summary = "Measures the plans of a file: the traffic of a recorded run.",
                                    .parameters = infos,
                                    .phases = {},  // those of the plans
                                    .presets_json = "[]",
                                    .make = make,
                                    .compute_parameters = compute_parameters,
                                    .reads_plans = true};
    return replay;
}

}  // namespace dlmb::run::replay
