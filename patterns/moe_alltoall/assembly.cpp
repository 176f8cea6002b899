// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/assembly.hpp"

#include "common/plan/builder.hpp"

#include <fmt/core.h>

#include <numeric>
#include <string>
#include <utility>

namespace dlmb::moe_alltoall {
namespace {

std::vector<Bytes> times(std::vector<std::uint64_t> const& rows, Bytes row_bytes) {
    std::vector<Bytes> bytes;
    bytes.reserve(rows.size());
    for (std::uint64_t const count : rows) {
        bytes.push_back(count * row_bytes);
    }
    return bytes;
}

class Assembler {
public:
    Assembler(Params const& params, Rank me) : params_(params), me_(me), builder_(me) {}

    void count_exchange(std::uint32_t layer) {
        auto const ep = static_cast<Rank>(params_.ep);
        Group group;
        group.members.resize(params_.ep);
        std::iota(group.members.begin(), group.members.end(), me_ / ep * ep);
        Bytes const gathered = Bytes{8} * params_.experts * params_.ep;
        GroupId const id = builder_.group(std::move(group));
        chain(builder_.all_gather(id, gathered, Element::int64, label("count_exchange", "", "", layer), after_));
    }

    /// Rows travel from the tokens' ranks to the experts' ranks.
    void to_experts(std::string_view phase, std::vector<Level> const& levels, Bytes row_bytes, std::string_view pass,
                    std::uint32_t layer) {
        for (Level const& level : levels) {
            exchange(level.group, times(level.send, row_bytes), times(level.recv, row_bytes),
                     label(phase, level.name, pass, layer));
        }
    }

    /// The same rows back: last level first, what was received is sent.
    void from_experts(std::string_view phase, std::vector<Level> const& levels, Bytes row_bytes, std::string_view pass,
                      std::uint32_t layer) {
        for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
            exchange(level->group, times(level->recv, row_bytes), times(level->send, row_bytes),
                     label(phase, level->name, pass, layer));
        }
    }

    [[nodiscard]] Plan finish() && { return std::move(builder_).finish(); }

private:
    void exchange(Group const& group, std::vector<Bytes> const& send, std::vector<Bytes> const& recv,
                  std::string label) {
        chain(builder_.exchange(builder_.group(group), send, recv, std::move(label), after_));
    }

    void chain(StepId step) { after_ = {step}; }

    [[nodiscard]] std::string label(std::string_view phase, std::string_view level, std::string_view pass,
                                    std::uint32_t layer) const {
        std::string text(phase);
        for (std::string_view const part : {level, pass}) {
            if (!part.empty()) {
                text += fmt::format(".{}", part);
            }
        }
        return params_.layers > 1 ? fmt::format("{}.{}", text, layer) : text;
    }

    Params const& params_;
    Rank me_;
    PlanBuilder builder_;
    std::vector<StepId> after_;
};

void add_forward(Assembler& steps, Params const& params, std::vector<Level> const& levels, std::uint32_t layer) {
    if (params.wire != Wire::padded) {
        steps.count_exchange(layer);
    }
    steps.to_experts("dispatch", levels, dispatch_row_bytes(params.format, params.hidden), "", layer);
    if (params.probs) {
        steps.to_experts("dispatch.probs", levels, probability_bytes, "", layer);
    }
    steps.from_experts("combine", levels, combine_row_bytes(params.format, params.hidden), "", layer);
}

/// Gradients: of combine first, towards the experts as dispatch rows; then of dispatch, back to the tokens.
void add_backward(Assembler& steps, Params const& params, std::vector<Level> const& levels, std::uint32_t layer) {
    steps.to_experts("combine", levels, dispatch_row_bytes(params.format, params.hidden), "backward", layer);
    if (params.probs) {
        steps.from_experts("dispatch.probs", levels, probability_bytes, "backward", layer);
    }
    steps.from_experts("dispatch", levels, combine_row_bytes(params.format, params.hidden), "backward", layer);
}

}  // namespace

Plan assemble(Params const& params, Rank me, std::span<std::vector<Level> const> layers) {
    Assembler steps(params, me);
    if (params.direction != Direction::backward) {
        for (std::uint32_t layer = 0; layer < params.layers; ++layer) {
            add_forward(steps, params, layers[layer], layer);
        }
    }
    if (params.direction != Direction::forward) {
        for (std::uint32_t layer = params.layers; layer-- > 0;) {
            add_backward(steps, params, layers[layer], layer);
        }
    }
    return std::move(steps).finish();
}

}  // namespace dlmb::moe_alltoall
