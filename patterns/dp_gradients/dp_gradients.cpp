// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/dp_gradients.hpp"

#include "patterns/dp_gradients/params.hpp"
#include "patterns/dp_gradients/plans.hpp"

namespace dlmb::dp_gradients {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

class DpGradients final : public FixedPattern {
public:
    DpGradients(Params params, WorldShape const& world) : params_(std::move(params)), world_(world) {}

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        OperationUse const all_reduce{OperationKind::all_reduce};
        OperationUse const all_gather{OperationKind::all_gather};
        OperationUse const reduce_scatter{OperationKind::reduce_scatter};
        bool const scatters = params_.form == Form::reduce_scatter;
        switch (params_.scheme) {
        case Scheme::ddp:
            break;
        case Scheme::megatron:
            return scatters ? std::vector{reduce_scatter, all_gather} : std::vector{all_reduce};
        case Scheme::zero1:
        case Scheme::zero2:
            return scatters ? std::vector{reduce_scatter, all_gather, all_reduce} : std::vector{all_reduce, all_gather};
        case Scheme::zero3:
            return {all_gather, reduce_scatter, all_reduce};
        case Scheme::fsdp:
            return {all_gather, reduce_scatter};
        }
        OperationUse const broadcast{OperationKind::broadcast};
        return params_.model.norm_counters > 0 ? std::vector{all_reduce, broadcast} : std::vector{all_reduce};
    }

private:
    [[nodiscard]] Plan plan_of(Rank me) const override {
        switch (params_.scheme) {
        case Scheme::zero3:
            return zero3_plan(params_, world_, me);
        case Scheme::fsdp:
            return fsdp_plan(params_, world_, me);
        case Scheme::ddp:
        case Scheme::megatron:
        case Scheme::zero1:
        case Scheme::zero2:
            break;
        }
        return replicated_plan(params_, world_, me);
    }

    Params params_;
    WorldShape world_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<DpGradients>(read_params(parameters, world), world);
}

constexpr std::string_view phases[] = {"buffers", "parameters", "gradients", "overflow"};

}  // namespace

CollectiveQueue queue_of(Params const& params, WorldShape const& world, Rank me) {
    return {me,
            strided_group(world, me, params.dp, params.stride),
            {.in_flight = params.in_flight, .in_place = params.in_place, .memory_limit = params.memory_limit}};
}

PatternType const& type() {
    static PatternType const dp_gradients{
        "dp_gradients",    "gradients and parameters of data-parallel training: DDP, ZeRO, FSDP",
        parameter_infos(), phases,
        presets_json,      make};
    return dp_gradients;
}

}  // namespace dlmb::dp_gradients
