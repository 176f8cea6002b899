// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/moe_alltoall.hpp"

#include "patterns/moe_alltoall/assembly.hpp"
#include "patterns/moe_alltoall/census.hpp"
#include "patterns/moe_alltoall/levels.hpp"
#include "patterns/moe_alltoall/params.hpp"
#include "patterns/moe_alltoall/realised.hpp"
#include "patterns/moe_alltoall/routing.hpp"

namespace dlmb::moe_alltoall {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

class MoeAlltoall final : public Pattern {
public:
    MoeAlltoall(Params const& params, WorldShape const& world)
        : params_(params), world_(world), routing_(params, world) {}

    [[nodiscard]] RankSetup setup_of(Rank source, Draw draw) const override {
        Counter counter(params_, world_, source);
        std::vector<Census> layers;
        for (std::uint32_t layer = 0; layer < params_.layers; ++layer) {
            layers.push_back(counter.count(routing_, draw, layer));
        }
        return {counts_to_send(params_, source, layers), tally(params_, layers)};
    }

    [[nodiscard]] Plan build(Rank me, Draw /*draw*/, RankSetup const& own,
                             std::span<SetupCounts const> received_counts) const override {
        std::vector<std::vector<Level>> layers;
        for (std::uint32_t layer = 0; layer < params_.layers; ++layer) {
            layers.push_back(levels_of(params_, me, layer, own.counts_to_send, received_counts));
        }
        return assemble(params_, me, layers);
    }

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        return realised(params_, world_, summed);
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        return {{OperationKind::exchange, false}, {OperationKind::all_gather, false}};
    }

    [[nodiscard]] bool draws_differ() const override { return true; }

private:
    Params params_;
    WorldShape world_;
    Routing routing_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<MoeAlltoall>(read_params(parameters, world), world);
}

constexpr std::string_view phases[] = {"count_exchange", "dispatch", "combine"};

}  // namespace

PatternType const& type() {
    static PatternType const moe_alltoall{
        "moe_alltoall",    "mixture-of-experts dispatch and combine (expert parallelism)",
        parameter_infos(), phases,
        presets_json,      make};
    return moe_alltoall;
}

}  // namespace dlmb::moe_alltoall
