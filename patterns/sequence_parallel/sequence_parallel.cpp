// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sequence_parallel/sequence_parallel.hpp"

#include "patterns/sequence_parallel/params.hpp"
#include "patterns/sequence_parallel/plans.hpp"

namespace dlmb::sequence_parallel {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

class SequenceParallel final : public FixedPattern {
public:
    SequenceParallel(Params const& params, WorldShape const& world) : params_(params), world_(world) {}

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        if (params_.kind == Kind::ring) {
            return {{OperationKind::send}, {OperationKind::recv}};
        }
        return {{OperationKind::exchange, ulysses_is_uniform(params_)}};
    }

private:
    [[nodiscard]] Plan plan_of(Rank me) const override {
        return params_.kind == Kind::ring ? ring_plan(params_, world_, me) : ulysses_plan(params_, world_, me);
    }

    Params params_;
    WorldShape world_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<SequenceParallel>(read_params(parameters, world), world);
}

constexpr std::string_view phases[] = {"forward", "backward"};
constexpr std::string_view compute_parameters[] = {"compute-ns"};

}  // namespace

PatternType const& type() {
    static PatternType const sequence_parallel{
        "sequence_parallel", "attention over long sequences: Ulysses exchanges or ring attention",
        parameter_infos(),   phases,
        presets_json,        make,
        compute_parameters};
    return sequence_parallel;
}

}  // namespace dlmb::sequence_parallel
