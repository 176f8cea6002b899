// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/pipeline_p2p.hpp"

#include "patterns/pipeline_p2p/assembly.hpp"
#include "patterns/pipeline_p2p/closed_forms.hpp"
#include "patterns/pipeline_p2p/params.hpp"
#include "patterns/pipeline_p2p/schedules.hpp"

namespace dlmb::pipeline_p2p {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

class PipelineP2p final : public FixedPattern {
public:
    PipelineP2p(Params const& params, WorldShape const& world) : params_(params), world_(world) {}

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> /*summed*/) const override {
        auto const makespan = static_cast<double>(ideal_makespan(params_.shape, params_.durations));
        auto const compute = static_cast<double>(compute_per_rank(params_.shape, params_.durations));
        bool const timed = params_.computes;
        double const unit = timed ? 1000 : 1;
        std::vector<Statistic> statistics{
            {timed ? "ideal_makespan_us" : "ideal_makespan_slots", makespan / unit},
            {"ideal_bubble_ratio", makespan > 0 ? (makespan - compute) / makespan : 0},
            {timed ? "compute_us" : "compute_slots", compute / unit},
            {"messages", static_cast<double>(tensor_messages(params_.shape)) * params_.stage_width()},
        };
        if (params_.product) {
            statistics.push_back({"gemm_rows", static_cast<double>(params_.product->rows)});
            statistics.push_back({"gemm_columns", static_cast<double>(params_.product->columns)});
            statistics.push_back({"gemm_inner", static_cast<double>(params_.product->inner)});
        }
        return statistics;
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        std::vector<OperationUse> uses{{OperationKind::send, false}, {OperationKind::recv, false}};
        if (params_.gathers()) {
            uses.push_back({OperationKind::all_gather, false});
        }
        if (params_.vocabulary > 0 || params_.gradient_bytes > 0 || (params_.loss && params_.dp > 1)) {
            uses.push_back({OperationKind::all_reduce, false});
        }
        if (params_.loss) {
            uses.push_back({OperationKind::broadcast, false});
        }
        return uses;
    }

private:
    [[nodiscard]] Plan plan_of(Rank me) const override {
        return assemble(params_, world_, me, actions_of(params_.shape, me / params_.stage_width()));
    }

    Params params_;
    WorldShape world_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<PipelineP2p>(read_params(parameters, world), world);
}

constexpr std::string_view phases[] = {"forward", "backward", "meta", "tied_embedding", "gradient_sync", "compute"};
constexpr std::string_view compute_parameters[] = {"compute"};

}  // namespace

PatternType const& type() {
    static PatternType const pipeline_p2p{
        "pipeline_p2p",    "pipeline-parallel point-to-point schedules", parameter_infos(), phases, presets_json, make,
        compute_parameters};
    return pipeline_p2p;
}

}  // namespace dlmb::pipeline_p2p
