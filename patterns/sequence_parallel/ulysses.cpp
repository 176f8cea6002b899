// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/builder.hpp"
#include "patterns/buffer_budget.hpp"
#include "patterns/sequence_parallel/plans.hpp"

#include <fmt/core.h>

#include <array>
#include <string>
#include <utility>

namespace dlmb::sequence_parallel {
namespace {

struct Exchanged {
    std::string_view name;
    bool of_keys;
};

constexpr std::array exchanges{Exchanged{"q", false}, Exchanged{"k", true}, Exchanged{"v", true},
                               Exchanged{"out", false}};

class IterationBuilder {
public:
    IterationBuilder(Params const& params, WorldShape const& world, Rank me)
        : params_(params), builder_(me), group_(builder_.group(consecutive_group(world, me, params.sp))),
          budget_(params.memory_limit) {}

    void forward(std::uint32_t layer) {
        for (Exchanged const& exchanged : exchanges) {
            exchange("forward", exchanged, layer);
        }
    }

    void backward(std::uint32_t layer) {
        exchange("backward", exchanges[3], layer);
        for (std::size_t i = 0; i < 3; ++i) {
            exchange("backward", exchanges.at(i), layer);
        }
    }

    [[nodiscard]] Plan finish() && { return std::move(builder_).finish(); }

private:
    void exchange(std::string_view phase, Exchanged const& exchanged, std::uint32_t layer) {
        Tensor const& tensor = exchanged.of_keys ? params_.keys : params_.queries;
        Bytes const per_peer = bytes_per_peer(tensor, params_.ranks(), params_.element);
        std::vector<Bytes> const bytes(params_.ranks(), per_peer);
        builder_.share_buffers(!budget_.take(2 * per_peer * params_.ranks()));
        after_ = {builder_.exchange(group_, bytes, bytes, label(phase, exchanged.name, layer), after_)};
    }

    [[nodiscard]] std::string label(std::string_view phase, std::string_view tensor, std::uint32_t layer) const {
        return params_.layers > 1 ? fmt::format("{}.{}.{}", phase, tensor, layer) : fmt::format("{}.{}", phase, tensor);
    }

    Params const& params_;
    PlanBuilder builder_;
    GroupId group_;
    BufferBudget budget_;
    std::vector<StepId> after_;
};

}  // namespace

Plan ulysses_plan(Params const& params, WorldShape const& world, Rank me) {
    IterationBuilder steps(params, world, me);
    if (params.direction != Direction::backward) {
        for (std::uint32_t layer = 0; layer < params.layers; ++layer) {
            steps.forward(layer);
        }
    }
    if (params.direction != Direction::forward) {
        for (std::uint32_t layer = params.layers; layer-- > 0;) {
            steps.backward(layer);
        }
    }
    return std::move(steps).finish();
}

bool ulysses_is_uniform(Params const& params) {
    return bytes_per_peer(params.queries, params.ranks(), params.element) % guard_bytes == 0 &&
           bytes_per_peer(params.keys, params.ranks(), params.element) % guard_bytes == 0;
}

}  // namespace dlmb::sequence_parallel
