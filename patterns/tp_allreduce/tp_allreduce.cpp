// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/tp_allreduce/tp_allreduce.hpp"

#include "patterns/tp_allreduce/assembly.hpp"
#include "patterns/tp_allreduce/params.hpp"

namespace dlmb::tp_allreduce {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

class TpAllreduce final : public FixedPattern {
public:
    TpAllreduce(Params const& params, WorldShape const& world) : params_(params), world_(world) {}

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        bool const training = params_.phase == Phase::training;
        std::vector<OperationUse> uses;
        if (params_.sequence_parallel) {
            uses = {{OperationKind::all_gather}, {OperationKind::reduce_scatter}};
        }
        if (!params_.scattered_edges() || training || params_.logits == Logits::argmax) {
            uses.push_back({OperationKind::all_reduce});
        }
        if (!params_.sequence_parallel && !training && params_.logits == Logits::allgather) {
            uses.push_back({OperationKind::all_gather});
        }
        if (training) {
            uses.push_back({OperationKind::broadcast});
        }
        return uses;
    }

private:
    [[nodiscard]] Plan plan_of(Rank me) const override { return assemble(params_, world_, me); }

    Params params_;
    WorldShape world_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<TpAllreduce>(read_params(parameters, world), world);
}

constexpr std::string_view phases[] = {"input_broadcast", "embedding", "forward",       "cross_entropy",
                                       "logits",          "backward",  "norm_gradients"};

}  // namespace

PatternType const& type() {
    static PatternType const tp_allreduce{
        "tp_allreduce",    "collectives of tensor-parallel transformer layers, in training and inference",
        parameter_infos(), phases,
        presets_json,      make};
    return tp_allreduce;
}

}  // namespace dlmb::tp_allreduce
