// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sequence_parallel/sequence_parallel.hpp"

#include "patterns/sequence_parallel/params.hpp"
#include "patterns/sequence_parallel/ring.hpp"
#include "patterns/sequence_parallel/ulysses.hpp"

namespace dlmb::sequence_parallel {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

class SequenceParallel final : public Pattern {
public:
    SequenceParallel(Params const& params, WorldShape const& world) : params_(params), world_(world) {}

    // All sizes follow from the parameters: there is nothing to tell and nothing random to report.
    [[nodiscard]] Announcement announce(Rank /*source*/, Draw /*draw*/) const override { return {}; }

    [[nodiscard]] Plan build(Rank me, Draw /*draw*/, Announcement const& /*own*/,
                             std::span<Note const> /*heard*/) const override {
        return params_.kind == Kind::ring ? ring_plan(params_, world_, me) : ulysses_plan(params_, world_, me);
    }

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> /*summed*/) const override {
        return {};
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        if (params_.kind == Kind::ring) {
            return {{OperationKind::send}, {OperationKind::recv}};
        }
        return {{OperationKind::exchange, ulysses_is_uniform(params_)}};
    }

    [[nodiscard]] std::vector<Rank> peers(Rank /*me*/) const override { return {}; }

private:
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
