// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/collective/collective.hpp"

#include "common/sizes/inequality.hpp"
#include "patterns/collective/byte_matrix.hpp"
#include "patterns/collective/params.hpp"
#include "patterns/collective/steps.hpp"

#include <optional>

namespace dlmb::collective {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

class Collective final : public Pattern {
public:
    Collective(Params const& params, WorldShape const& world) : params_(params), world_(world) {
        if (params.kind == Kind::alltoallv) {
            matrix_.emplace(params, world);
        }
    }

    [[nodiscard]] RankSetup setup_of(Rank source, Draw draw) const override {
        return {{}, matrix_ ? matrix_->row(source, draw.seed) : std::vector<std::uint64_t>{}};
    }

    [[nodiscard]] Plan build(Rank me, Draw draw, RankSetup const& own,
                             std::span<SetupCounts const> /*received_counts*/) const override {
        if (matrix_) {
            return exchange_plan(params_, world_, me, own.statistics, matrix_->column(me, draw.seed));
        }
        return plan_of(params_, world_, me);
    }

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        if (!matrix_) {
            return {};
        }
        return {{"gini_rank", gini(summed)}, {"max_mean_rank", max_over_mean(summed)}};
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override { return operations_of(params_); }

private:
    Params params_;
    WorldShape world_;
    std::optional<ByteMatrix> matrix_;  // alltoallv
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<Collective>(read_params(parameters, world), world);
}

}  // namespace

PatternType const& type() {
    static PatternType const collective{
        "collective",      "one plain operation over a range of message sizes, as OSU and nccl-tests measure it",
        parameter_infos(), kind_names,
        presets_json,      make};
    return collective;
}

}  // namespace dlmb::collective
