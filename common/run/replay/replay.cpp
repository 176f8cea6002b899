// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/replay/replay.hpp"

#include "common/base/error.hpp"
#include "common/run/replay/recorded_plans.hpp"
#include "patterns/readers.hpp"

#include <fmt/format.h>

#include <utility>

namespace dlmb::run::replay {
namespace {

constexpr ParameterInfo infos[] = {
    {"plan",
     "plans of all ranks (JSON of dlmb_trace import or --plan json, also compressed), or a folder or archive with a "
     "file per iteration",
     ""},
    {"compute", "the computations of the plan: recorded, none, or a factor by which their times are scaled",
     "recorded"},
    {"rescale",
     "where the launch has other ranks than the plan: refuse, preserve-skew, uniform (equal blocks) or truncate",
     "refuse"},
    memory_limit_parameter,
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
        throw UsageError(
            "--plan FILE is missing: the plans to measure, as dlmb_trace import and --plan json write them");
    }
    return {plan, read_compute(parameters),
            read_enum<Rescale>(parameters, "rescale", {"refuse", "preserve-skew", "uniform", "truncate"}),
            read_memory_limit(parameters)};
}

class Replay final : public Pattern {
public:
    Replay(Request request, WorldShape const& world) : request_(std::move(request)), plans_(request_, world.ranks) {
        if (world.ranks != plans_.recorded_ranks()) {
            remarks_.push_back(
                fmt::format("rescaled to {} ranks, recorded with {}", world.ranks, plans_.recorded_ranks()));
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
    [[nodiscard]] std::vector<std::string> remarks() const override { return remarks_; }

private:
    Request request_;
    RecordedPlans plans_;
    std::vector<std::string> remarks_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<Replay>(read_request(parameters), world);
}

}  // namespace

PatternType const& type() {
    static PatternType const replay{.name = "replay",
                                    .summary = "Measures the plans of a file: the traffic of a recorded run.",
                                    .parameters = infos,
                                    .phases = {},  // those of the plans
                                    .presets_json = "[]",
                                    .make = make,
                                    .compute_parameters = compute_parameters};
    return replay;
}

}  // namespace dlmb::run::replay
